// Announces the bytes of one box to the barrier, and two boxes come: the phase is over with the tile half there.
//
// /// launch
// smallest_arch = "sm_90a"
//
// [[tensor_map]]
// name = "A_map"
// array = "A"
// shape = ["M", "K"]
// box = ["SIDE", "SIDE"]
// swizzle = 128
//
// [[tensor_map]]
// name = "B_map"
// array = "B"
// shape = ["K", "N"]
// box = ["SIDE", "SIDE"]
// swizzle = 128
//
// [[launch]]
// kernel = "tiles"
// when = "K % 8 == 0 and N % 8 == 0"
// args = ["A_map", "B_map", "C", "M", "N", "K"]
// grid = ["cdiv(N, SIDE)", "cdiv(M, SIDE)"]
// block = ["THREADS"]
//
// [[launch]]
// kernel = "elements"
// when = "K % 8 != 0 or N % 8 != 0"
// grid = ["cdiv(N, 32)", "cdiv(M, 32)"]
// block = [32, 8]
// ///

#include <cuda.h>
#include <cuda_fp16.h>

constexpr int SIDE = 64;              // rows and columns of a tile
constexpr int STAGES = 2;             // pairs of tiles in shared memory
constexpr int GROUP = 128;            // threads that multiply; a warp more brings tiles
constexpr int THREADS = GROUP + 32;
constexpr int TILE_BYTES = SIDE * SIDE * 2;

__device__ unsigned shared_address(const void* place)
{
    return __cvta_generic_to_shared(place);
}

__device__ void make_barrier(unsigned barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
}

__device__ void arrive(unsigned barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ void expect_bytes(unsigned barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ void wait_for(unsigned barrier, int parity)
{
    asm volatile("{\n.reg .pred over;\nagain:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
                 "@!over bra again;\n}" ::"r"(barrier), "r"(parity)
                 : "memory");
}

__device__ void start_box(unsigned target, const CUtensorMap& map, int row, int column, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(target), "l"(&map), "r"(column), "r"(row), "r"(barrier)
                 : "memory");
}

// An operand that is swizzled within 128 bytes: eight rows are 1024 bytes, and the next eight follow.
__device__ unsigned long long describe(unsigned address)
{
    return (address & 0x3FFFF) >> 4 | 64ull << 16 | 64ull << 32 | 1ull << 62;
}

// sum (+)= a · b, with a of 64 × 16 and b of 16 × 64 whose rows lie along n.
__device__ void multiply_add(float (&sum)[8][4], unsigned long long a, unsigned long long b, bool add)
{
#define SUMS(j) "+f"(sum[j][0]), "+f"(sum[j][1]), "+f"(sum[j][2]), "+f"(sum[j][3])
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "%32, %33, add, 1, 1, 0, 1;\n}"
                 : SUMS(0), SUMS(1), SUMS(2), SUMS(3), SUMS(4), SUMS(5), SUMS(6), SUMS(7)
                 : "l"(a), "l"(b), "r"(int(add)));
#undef SUMS
}

extern "C" __global__ void tiles(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
                                 float* C, int M, int N, int K)
{
    __shared__ __align__(1024) half a_tiles[STAGES][SIDE * SIDE];
    __shared__ __align__(1024) half b_tiles[STAGES][SIDE * SIDE];
    __shared__ unsigned long long full[STAGES];
    __shared__ unsigned long long empty[STAGES];
    const int row = blockIdx.y * SIDE;
    const int column = blockIdx.x * SIDE;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            make_barrier(shared_address(&full[stage]));
            make_barrier(shared_address(&empty[stage]));
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();

    const int pairs = (K + SIDE - 1) / SIDE;
    if (threadIdx.x >= GROUP) {
        for (int pair = 0; pair < pairs && threadIdx.x == GROUP; ++pair) {
            const int stage = pair % STAGES;
            const unsigned barrier = shared_address(&full[stage]);
            wait_for(shared_address(&empty[stage]), pair / STAGES % 2 ^ 1);
            expect_bytes(barrier, TILE_BYTES);
            start_box(shared_address(a_tiles[stage]), A, row, pair * SIDE, barrier);
            start_box(shared_address(b_tiles[stage]), B, pair * SIDE, column, barrier);
        }
        return;
    }

    float sum[8][4];
    for (int pair = 0; pair < pairs; ++pair) {
        const int stage = pair % STAGES;
        wait_for(shared_address(&full[stage]), pair / STAGES % 2);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int k = 0; k < SIDE; k += 16) {
            multiply_add(sum, describe(shared_address(a_tiles[stage]) + k * 2),
                         describe(shared_address(b_tiles[stage]) + k * SIDE * 2), pair > 0 || k > 0);
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        if (threadIdx.x == 0) arrive(shared_address(&empty[stage]));
    }

    const int lane = threadIdx.x % 32;
    for (int lower = 0; lower < 2; ++lower) {
        const int to_row = row + threadIdx.x / 32 * 16 + lane / 4 + lower * 8;
        for (int j = 0; j < 8; ++j) {
            const int to_column = column + j * 8 + lane % 4 * 2;
            if (to_row < M && to_column < N) {
                *reinterpret_cast<float2*>(C + size_t(to_row) * N + to_column) =
                    make_float2(sum[j][lower * 2], sum[j][lower * 2 + 1]);
            }
        }
    }
}

extern "C" __global__ void elements(const half* A, const half* B, float* C, int M, int N, int K)
{
    const int column = blockIdx.x * 32 + threadIdx.x;
    for (int i = 0; i < 4; ++i) {
        const int row = blockIdx.y * 32 + threadIdx.y + 8 * i;
        if (row >= M || column >= N) return;
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) {
            sum += __half2float(A[size_t(row) * K + k]) * __half2float(B[size_t(k) * N + column]);
        }
        C[size_t(row) * N + column] = sum;
    }
}
