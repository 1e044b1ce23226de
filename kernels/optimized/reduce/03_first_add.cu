// A thread fetches two numbers and adds them before it touches shared memory. Until now half of all
// threads did nothing but fetch one number; now a block takes 512.
//
// What it should buy: half as many blocks, so half as many trees, for the same numbers; and two
// loads under way for each thread where there was one. Memory is kept busy by bytes in flight.
//
// Source: M. Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA, 2007.
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

constexpr int BLOCK = 256;       // threads of a block: a power of two
constexpr int TILE = 2 * BLOCK;  // numbers that a block adds

// out[b] = the sum of block b's TILE numbers of `in`, which holds N.
extern "C" __global__ void reduce(const float* __restrict__ in, float* __restrict__ out, int N)
{
    __shared__ float sums[BLOCK];

    // The two are BLOCK places apart, so that neighbouring threads fetch neighbours both times.
    const size_t i = size_t(blockIdx.x) * TILE + threadIdx.x;
    const float one = i < N ? in[i] : 0.0f;
    const float other = i + BLOCK < N ? in[i + BLOCK] : 0.0f;
    sums[threadIdx.x] = one + other;
    __syncthreads();  // all sums of two are there

    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        if (threadIdx.x < distance) {
            sums[threadIdx.x] += sums[threadIdx.x + distance];
        }
        __syncthreads();  // the sums of this step are complete
    }

    if (threadIdx.x == 0) {
        out[blockIdx.x] = sums[0];
    }
}
