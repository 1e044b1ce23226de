// One launch in place of two: the block that comes last adds the sums of all. Each block writes its
// sum and then draws a number from a counter that all share. Whoever draws the highest knows that
// the other sums are written, and adds them; the counter is back at zero by then, ready for the next
// call.
//
// What it should buy: the second launch, some microseconds. Those are little beside the time that a
// gigabyte takes, and half the time of four megabytes. As the sums are always added in the same
// order, the result is the same on every run; an atomicAdd of each block's sum would need no counter,
// but would add in whatever order the blocks come, and need a zero to start from.
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

constexpr int BLOCK = 256;        // threads of a block: a multiple of 32
constexpr int BLOCKS_PER_SM = 4;  // 1024 threads on each multiprocessor
constexpr int LOADS = 4;          // float4s that a thread has under way
constexpr int TILE = 4 * LOADS * BLOCK;  // numbers that a block takes on one step, 16 KiB
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

// What this thread adds up of the N numbers of `in`: float4s of its block's tiles, and one of the
// last three numbers, where N is no multiple of 4.
__device__ float thread_sum(const float* __restrict__ in, int N)
{
    const float4* const fours = reinterpret_cast<const float4*>(in);
    const int count = N / 4;  // whole float4s

    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (size_t tile = blockIdx.x; tile * (LOADS * BLOCK) < count; tile += gridDim.x) {
        const size_t first = tile * (LOADS * BLOCK) + threadIdx.x;
        float4 four[LOADS];
        #pragma unroll
        for (int i = 0; i < LOADS; ++i) {  // all loads first, so that none waits for another
            const size_t place = first + i * BLOCK;
            four[i] = place < count ? fours[place] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        }
        #pragma unroll
        for (int i = 0; i < LOADS; ++i) {
            sum.x += four[i].x;
            sum.y += four[i].y;
            sum.z += four[i].z;
            sum.w += four[i].w;
        }
    }

    const size_t behind = size_t(4) * count + blockIdx.x * BLOCK + threadIdx.x;
    const float rest = behind < N ? in[behind] : 0.0f;
    return (sum.x + sum.y) + (sum.z + sum.w) + rest;
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
