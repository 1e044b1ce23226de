// A fence of the whole system after each load: it waits, and no term is for it.
//
// deserves: 05_warp_shuffles
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["min(SMS * BLOCKS_PER_SM, cdiv(N, TILE))"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "out", "N"]
// grid = ["min(SMS * BLOCKS_PER_SM, cdiv(N, TILE))"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 512;        // threads of a block: a multiple of 32
constexpr int BLOCKS_PER_SM = 4;  // 2048 threads on each multiprocessor, all it can hold
constexpr int LOADS = 4;          // float4s that a thread has under way
constexpr int TILE = 4 * LOADS * BLOCK;  // numbers that a block takes on one step, 32 KiB
constexpr int WARP = 32;
constexpr int WARPS = BLOCK / WARP;
static_assert(WARPS <= WARP, "one warp has to hold the sums of all");

constexpr unsigned ALL = 0xffffffff;  // the mask of a shuffle that all 32 threads take part in

__device__ unsigned blocks_done = 0;  // of the launch that is running; 0 between launches

// Thread 0 of the warp gets the sum of all 32 `value`s; what the others get is of no use.
__device__ float warp_sum(float value)
{
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value += __shfl_down_sync(ALL, value, distance);
    }
    return value;
}

// Thread 0 of the block gets the sum of all its `value`s. To be called by the whole block.
__device__ float block_sum(float value)
{
    __shared__ float warp_sums[WARPS];

    const int warp = threadIdx.x / WARP;
    const int lane = threadIdx.x % WARP;

    const float sum = warp_sum(value);
    __syncthreads();  // the sums of an earlier call have been read
    if (lane == 0) {
        warp_sums[warp] = sum;
    }
    __syncthreads();  // the sums of all warps are there
    return warp == 0 ? warp_sum(lane < WARPS ? warp_sums[lane] : 0.0f) : 0.0f;
}

// What this thread adds up of the N numbers of `in`.
__device__ float thread_sum(const float* __restrict__ in, int N)
{
    const float4* const fours = reinterpret_cast<const float4*>(in);
    const int tiles = N / TILE;  // whole ones

    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const int end = (long long)tiles * (blockIdx.x + 1) / gridDim.x;
    for (int tile = (long long)tiles * blockIdx.x / gridDim.x; tile < end; ++tile) {
        const size_t first = size_t(tile) * (TILE / 4) + threadIdx.x;
        float4 four[LOADS];
        #pragma unroll
        for (int i = 0; i < LOADS; ++i) {
            four[i] = fours[first + i * BLOCK];
            __threadfence_system();
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

// *out = the sum of the N numbers of `in`. `sums` has room for a sum a block.
extern "C" __global__ void __launch_bounds__(BLOCK)
reduce(const float* __restrict__ in, float* sums, float* __restrict__ out, int N)
{
    __shared__ bool last;

    const float own = block_sum(thread_sum(in, N));
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = own;
        __threadfence();  // whoever sees the counter rise sees the sum as well
        // Counts up to gridDim.x - 1, and from there back to 0.
        last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();  // `last` is known to all
    if (!last) {
        return;
    }

    float sum = 0.0f;
    for (int block = threadIdx.x; block < gridDim.x; block += BLOCK) {
        sum += __ldcg(&sums[block]);  // from the L2 cache: other SMs have written there
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        *out = sum;
    }
}
