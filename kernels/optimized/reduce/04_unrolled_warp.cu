// The last six steps need one warp only, and a warp needs no barrier of the whole block: the other
// seven are sent home, and the loop is unrolled.
//
// What it should buy: two barriers of the block where there were eight, and no loop whose end is
// computed and compared at every step. The seven warps that only came to the barriers stop taking
// issue slots from warps that fetch.
//
// Threads of a warp are not in step by law of nature: between writing a place and reading a
// neighbour's, and between that and writing again, stands a __syncwarp().
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

constexpr int BLOCK = 256;       // threads of a block: a power of two, at least 64
constexpr int TILE = 2 * BLOCK;  // numbers that a block adds
constexpr int WARP = 32;

// out[b] = the sum of block b's TILE numbers of `in`, which holds N.
extern "C" __global__ void reduce(const float* __restrict__ in, float* __restrict__ out, int N)
{
    __shared__ float sums[BLOCK];

    const size_t i = size_t(blockIdx.x) * TILE + threadIdx.x;
    const float one = i < N ? in[i] : 0.0f;
    const float other = i + BLOCK < N ? in[i + BLOCK] : 0.0f;
    sums[threadIdx.x] = one + other;
    __syncthreads();  // all sums of two are there

    #pragma unroll
    for (int distance = BLOCK / 2; distance > WARP; distance /= 2) {
        if (threadIdx.x < distance) {
            sums[threadIdx.x] += sums[threadIdx.x + distance];
        }
        __syncthreads();  // the sums of this step are complete
    }

    if (threadIdx.x >= WARP) {
        return;  // no barrier of the block follows
    }
    float sum = sums[threadIdx.x] + sums[threadIdx.x + WARP];
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        // All 32 threads go on adding, which costs a warp no more than if `distance` of them did.
        sums[threadIdx.x] = sum;
        __syncwarp();  // the warp's sums are written
        sum += sums[threadIdx.x + distance];
        __syncwarp();  // and read
    }
    if (threadIdx.x == 0) {
        out[blockIdx.x] = sum;
    }
}
