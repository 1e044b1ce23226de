// As many blocks as the GPU holds at a time, and no more: each thread walks through the numbers with
// the stride of the whole grid, four float4s on every step, and adds in registers all the way. What
// happens once a block, the shuffles, the barrier, the start of the block itself, now happens once
// for a hundred thousand numbers in place of 512.
//
// What it should buy: a quarter of the load requests, 64 bytes under way for each thread before it
// has to wait, and hardly an instruction that is not a load or one of the additions. There are so few
// sums of blocks that one further launch of one block adds them.
//
// Source: J. Luitjens, "Faster Parallel Reductions on Kepler", NVIDIA, 2014.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["min(SMS * BLOCKS_PER_SM, cdiv(N, TILE))"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "N"]
// grid = ["min(SMS * BLOCKS_PER_SM, cdiv(N, TILE))"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "reduce"
// args = ["sums", "out", "min(SMS * BLOCKS_PER_SM, cdiv(N, TILE))"]
// grid = [1]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;        // threads of a block: a multiple of 32
constexpr int BLOCKS_PER_SM = 4;  // of the first launch: 1024 threads on each multiprocessor
constexpr int LOADS = 4;          // float4s that a thread has under way
constexpr int TILE = 4 * LOADS * BLOCK;  // numbers that a block takes on one step, 16 KiB
constexpr int WARP = 32;
constexpr int WARPS = BLOCK / WARP;
static_assert(WARPS <= WARP, "one warp has to hold the sums of all");

constexpr unsigned ALL = 0xffffffff;  // the mask of a shuffle that all 32 threads take part in

// Thread 0 of the warp gets the sum of all 32 `value`s; what the others get is of no use.
__device__ float warp_sum(float value)
{
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value += __shfl_down_sync(ALL, value, distance);
    }
    return value;
}

// What this thread adds up of the N numbers of `in`.
__device__ float thread_sum(const float* __restrict__ in, int N)
{
    const float4* const fours = reinterpret_cast<const float4*>(in);
    const int tiles = N / TILE;  // whole ones

    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const size_t first = size_t(tile) * (TILE / 4) + threadIdx.x;
        float4 four[LOADS];
        #pragma unroll
        for (int i = 0; i < LOADS; ++i) {  // all loads first, so that none waits for another
            four[i] = fours[first + i * BLOCK];
        }
        #pragma unroll
        for (int i = 0; i < LOADS; ++i) {
            sum.x += four[i].x;
            sum.y += four[i].y;
            sum.z += four[i].z;
            sum.w += four[i].w;
        }
    }

    // Fewer numbers than a tile are left. The whole grid takes them one by one.
    for (size_t i = size_t(tiles) * TILE + blockIdx.x * BLOCK + threadIdx.x; i < N;
         i += gridDim.x * BLOCK) {
        sum.x += in[i];
    }
    return (sum.x + sum.y) + (sum.z + sum.w);
}

// out[b] = the sum of what block b takes of the N numbers of `in`.
extern "C" __global__ void __launch_bounds__(BLOCK)
reduce(const float* __restrict__ in, float* __restrict__ out, int N)
{
    __shared__ float warp_sums[WARPS];

    const int warp = threadIdx.x / WARP;
    const int lane = threadIdx.x % WARP;

    float sum = warp_sum(thread_sum(in, N));
    if (lane == 0) {
        warp_sums[warp] = sum;
    }
    __syncthreads();  // the sums of all warps are there

    if (warp == 0) {
        sum = warp_sum(lane < WARPS ? warp_sums[lane] : 0.0f);
        if (lane == 0) {
            out[blockIdx.x] = sum;
        }
    }
}
