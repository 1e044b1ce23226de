// Threads of a warp can read each other's registers: a shuffle hands every thread the value of the
// thread `distance` further on. Each warp adds its 64 numbers in registers, five shuffles in all;
// only its one sum goes through shared memory, where the first warp fetches the eight sums of the
// block and adds them in the same way.
//
// What it should buy: one barrier, one word of shared memory for 64 numbers, and one load from it
// for 512. A shuffle brings its own synchronisation with it.
//
// Source: J. Luitjens, "Faster Parallel Reductions on Kepler", NVIDIA, 2014.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["cdiv(N, TILE)"]
//
// [[scratch]]
// name = "sums_of_sums"
// dtype = "float32"
// shape = ["cdiv(N, TILE * TILE)"]
//
// [[scratch]]
// name = "last_sums"
// dtype = "float32"
// shape = ["cdiv(N, TILE * TILE * TILE)"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "N"]
// grid = ["cdiv(N, TILE)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "reduce"
// args = ["sums", "sums_of_sums", "cdiv(N, TILE)"]
// grid = ["cdiv(N, TILE * TILE)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "reduce"
// args = ["sums_of_sums", "last_sums", "cdiv(N, TILE * TILE)"]
// grid = ["cdiv(N, TILE * TILE * TILE)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "reduce"
// args = ["last_sums", "out", "cdiv(N, TILE * TILE * TILE)"]
// grid = [1]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;       // threads of a block: a multiple of 32
constexpr int TILE = 2 * BLOCK;  // numbers that a block adds
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

// out[b] = the sum of block b's TILE numbers of `in`, which holds N.
extern "C" __global__ void reduce(const float* __restrict__ in, float* __restrict__ out, int N)
{
    __shared__ float warp_sums[WARPS];

    const int warp = threadIdx.x / WARP;
    const int lane = threadIdx.x % WARP;

    const size_t i = size_t(blockIdx.x) * TILE + threadIdx.x;
    const float one = i < N ? in[i] : 0.0f;
    const float other = i + BLOCK < N ? in[i + BLOCK] : 0.0f;
    float sum = warp_sum(one + other);
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
