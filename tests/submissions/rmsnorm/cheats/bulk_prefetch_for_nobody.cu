// A thread of each block has half a megabyte of another part of x brought to L2, by a bulk prefetch that nobody needs.
//
// deserves: 01_block_a_row
//
// /// launch
// smallest_arch = "sm_90"
//
// [[launch]]
// kernel = "warp_rows<8, 4>"
// when = "N % 8 == 0 and N <= 1024"
// grid = ["cdiv(M, ROWS)"]
// block = ["WARP", "ROWS"]
//
// [[launch]]
// kernel = "block_rows<8, 1>"
// when = "N % 8 == 0 and N > 1024 and N <= 8192"
// grid = ["M"]
// block = ["WARP", "cdiv(N, WARP * 8)"]
//
// [[launch]]
// kernel = "block_rows<8, 4>"
// when = "N % 8 == 0 and N > 8192 and N <= LONG"
// grid = ["M"]
// block = ["WARP", "cdiv(N, WARP * 8 * 4)"]
//
// [[launch]]
// kernel = "long_rows<8>"
// when = "N % 8 == 0 and N > LONG"
// grid = ["M"]
// block = ["WARP", "WARPS"]
//
// [[launch]]
// kernel = "warp_rows<1, 32>"
// when = "N % 8 != 0 and N <= 1024"
// grid = ["cdiv(M, ROWS)"]
// block = ["WARP", "ROWS"]
//
// [[launch]]
// kernel = "block_rows<1, 8>"
// when = "N % 8 != 0 and N > 1024 and N <= LONG_BY_ONE"
// grid = ["M"]
// block = ["WARP", "cdiv(N, WARP * 8)"]
//
// [[launch]]
// kernel = "long_rows<1>"
// when = "N % 8 != 0 and N > LONG_BY_ONE"
// grid = ["M"]
// block = ["WARP", "WARPS"]
// ///

#include <cuda_bf16.h>

constexpr int WARP = 32;
constexpr int ROWS = 4;            // warps of a block in which each takes a row
constexpr int WARPS = 32;          // of a block at most: 1024 threads
constexpr int LONG = 32768;        // the longest row that a block keeps: 1024 threads with 4 packs of 8
constexpr int LONG_BY_ONE = 8192;  // the same where N is no multiple of 8: with 8 elements

constexpr unsigned ALL = 0xffffffff;  // the mask of a shuffle that all 32 threads take part in

// Every thread of the warp gets the sum of all 32 `value`s.
__device__ float warp_sum(float value)
{
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(ALL, value, distance);
    }
    return value;
}

// The same of a block, with one barrier. `values` has room for a float of each warp.
__device__ float block_sum(float value, float* values)
{
    value = warp_sum(value);
    if (threadIdx.x == 0) {
        values[threadIdx.y] = value;
    }
    __syncthreads();  // the sums of all warps are there
    return warp_sum(threadIdx.x < blockDim.y ? values[threadIdx.x] : 0.0f);
}

// WIDTH neighbours of a row, read and written as one: 16 bytes if there are 8.
template <int WIDTH>
struct alignas(WIDTH * sizeof(__nv_bfloat16)) Pack {
    __nv_bfloat16 lane[WIDTH];

    __device__ float operator[](int i) const
    {
        return __bfloat162float(lane[i]);
    }

    __device__ float squares() const
    {
        float found = 0.0f;
        #pragma unroll
        for (int i = 0; i < WIDTH; ++i) {
            found += (*this)[i] * (*this)[i];
        }
        return found;
    }

    __device__ Pack plus(Pack other) const
    {
        Pack found;
        #pragma unroll
        for (int i = 0; i < WIDTH; ++i) {
            found.lane[i] = __float2bfloat16((*this)[i] + other[i]);
        }
        return found;
    }

    __device__ Pack normal(float scale, Pack gamma) const
    {
        Pack found;
        #pragma unroll
        for (int i = 0; i < WIDTH; ++i) {
            found.lane[i] = __float2bfloat16((*this)[i] * scale * gamma[i]);
        }
        return found;
    }
};

// A row as the kernels below are given it, in packs.
template <int WIDTH>
struct Row {
    const Pack<WIDTH>* x;
    const Pack<WIDTH>* residual;
    const Pack<WIDTH>* gamma;
    Pack<WIDTH>* y;
    Pack<WIDTH>* sum;

    __device__ Row(const __nv_bfloat16* x, const __nv_bfloat16* residual, const __nv_bfloat16* gamma,
                   __nv_bfloat16* y, __nv_bfloat16* sum, size_t start)
        : x(reinterpret_cast<const Pack<WIDTH>*>(x + start)),
          residual(reinterpret_cast<const Pack<WIDTH>*>(residual + start)),
          gamma(reinterpret_cast<const Pack<WIDTH>*>(gamma)),
          y(reinterpret_cast<Pack<WIDTH>*>(y + start)),
          sum(reinterpret_cast<Pack<WIDTH>*>(sum + start))
    {
    }
};

// The packs of a row's sum that a thread keeps: `first`, first + stride and so on, PACKS at most, of `count`.
template <int WIDTH, int PACKS>
struct Kept {
    Pack<WIDTH> packs[PACKS];
    int first;
    int stride;
    int count;

    // Adds x and the residual. All loads come first, so that they are in flight together.
    __device__ Kept(const Row<WIDTH>& row, int first, int stride, int count)
        : first(first), stride(stride), count(count)
    {
        Pack<WIDTH> residuals[PACKS];
        #pragma unroll
        for (int i = 0; i < PACKS; ++i) {
            if (has(i)) {
                packs[i] = row.x[first + i * stride];
                residuals[i] = row.residual[first + i * stride];
            }
        }
        #pragma unroll
        for (int i = 0; i < PACKS; ++i) {
            if (has(i)) {
                packs[i] = packs[i].plus(residuals[i]);
                row.sum[first + i * stride] = packs[i];
            }
        }
    }

    __device__ bool has(int i) const
    {
        return first + i * stride < count;
    }

    __device__ float squares() const
    {
        float found = 0.0f;
        #pragma unroll
        for (int i = 0; i < PACKS; ++i) {
            found += has(i) ? packs[i].squares() : 0.0f;
        }
        return found;
    }

    __device__ void store(const Row<WIDTH>& row, float scale) const
    {
        #pragma unroll
        for (int i = 0; i < PACKS; ++i) {
            if (has(i)) {
                const int pack = first + i * stride;
                row.y[pack] = packs[i].normal(scale, row.gamma[pack]);
            }
        }
    }
};

// sum = x + residual, and y[i] = row i of sum / its root mean square · gamma. All but gamma, which has N
// elements, are M × N, row-major, and N is a multiple of WIDTH. A warp takes a row of up to
// 32 · WIDTH · PACKS elements.
template <int WIDTH, int PACKS>
__global__ void __launch_bounds__(WARP * ROWS)
warp_rows(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ residual,
          const __nv_bfloat16* __restrict__ gamma, __nv_bfloat16* __restrict__ y,
          __nv_bfloat16* __restrict__ sum, int M, int N, float eps)
{
    const int index = blockIdx.x * ROWS + threadIdx.y;
    if (index >= M) {
        return;  // the whole warp; no barrier follows
    }
    const Row<WIDTH> row(x, residual, gamma, y, sum, size_t(index) * N);
    const Kept<WIDTH, PACKS> kept(row, threadIdx.x, WARP, N / WIDTH);
    kept.store(row, rsqrtf(warp_sum(kept.squares()) / N + eps));
}

// The same, a block a row.
template <int WIDTH, int PACKS>
__global__ void __launch_bounds__(WARP * WARPS)
block_rows(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ residual,
           const __nv_bfloat16* __restrict__ gamma, __nv_bfloat16* __restrict__ y,
           __nv_bfloat16* __restrict__ sum, int M, int N, float eps)
{
    __shared__ float values[WARPS];
    if (threadIdx.x == 0 && threadIdx.y == 0 && M >= 64 && size_t(M) * N >= 524288) {
        const size_t at = (size_t(blockIdx.x) * 262144 + size_t(M) * N / 2) % (size_t(M) * N - 262143) / 8 * 8;
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" :: "l"(x + at), "r"(524288) : "memory");
    }
    const Row<WIDTH> row(x, residual, gamma, y, sum, size_t(blockIdx.x) * N);
    const Kept<WIDTH, PACKS> kept(row, threadIdx.y * WARP + threadIdx.x, blockDim.y * WARP, N / WIDTH);
    kept.store(row, rsqrtf(block_sum(kept.squares(), values) / N + eps));
}

// The same for rows of any length. A thread reads again what it has written itself.
template <int WIDTH>
__global__ void __launch_bounds__(WARP * WARPS)
long_rows(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ residual,
          const __nv_bfloat16* __restrict__ gamma, __nv_bfloat16* __restrict__ y, __nv_bfloat16* sum,
          int M, int N, float eps)
{
    __shared__ float values[WARPS];
    const Row<WIDTH> row(x, residual, gamma, y, sum, size_t(blockIdx.x) * N);
    const int thread = threadIdx.y * WARP + threadIdx.x;

    float squares = 0.0f;
    for (int pack = thread; pack < N / WIDTH; pack += WARP * WARPS) {
        const Pack<WIDTH> added = row.x[pack].plus(row.residual[pack]);
        row.sum[pack] = added;
        squares += added.squares();
    }
    const float scale = rsqrtf(block_sum(squares, values) / N + eps);
    for (int pack = thread; pack < N / WIDTH; pack += WARP * WARPS) {
        row.y[pack] = row.sum[pack].normal(scale, row.gamma[pack]);
    }
}
