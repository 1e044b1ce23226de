// Threads of a warp merge their pairs by shuffles, in registers. First the maximum goes around, in five
// steps. Then each thread scales its sum once, to the maximum of all, and the sums go around in five
// more. A block of eight warps exchanges eight pairs through shared memory, with one barrier. Where a
// row is short, a warp takes it alone, and no barrier is needed at all.
//
// What it should buy: nothing where rows are long, since the tree of the rung before ran once in 64
// elements a thread. Where rows are short it ran more often than a thread added: at 128 columns a
// block of 256 threads left half of them idle, and then took nine barriers.
//
// /// launch
// side_step = true
//
// [[launch]]
// kernel = "warp_rows"
// when = "N <= SHORT"
// grid = ["cdiv(M, WARPS)"]
// block = ["WARP", "WARPS"]
//
// [[launch]]
// kernel = "block_rows"
// when = "N > SHORT"
// grid = ["M"]
// block = ["WARP", "WARPS"]
// ///

constexpr int WARP = 32;
constexpr int WARPS = 8;     // of a block
constexpr int SHORT = 1024;  // the longest row that a warp takes alone: 32 elements a thread

constexpr unsigned ALL = 0xffffffff;  // the mask of a shuffle that all 32 threads take part in

// Of some elements the largest, and the sum of exp(element - largest). Loaded and stored as one.
struct alignas(8) Pair {
    float maximum;
    float sum;
};

// What the largest of no elements is taken to be: -FLT_MAX. It is not -∞, which masked elements are:
// -∞ - (-∞) would be NaN.
constexpr float LOWEST = -3.402823466e38f;

// The pair of the elements of both. One of the two factors exp(maximum - larger maximum) is 1.
__device__ Pair merged(Pair a, Pair b)
{
    const float factor = expf(-fabsf(a.maximum - b.maximum));
    return a.maximum > b.maximum ? Pair{a.maximum, a.sum + b.sum * factor}
                                 : Pair{b.maximum, a.sum * factor + b.sum};
}

// Every thread of the warp gets the pair of the elements of all 32.
__device__ Pair warp_merged(Pair own)
{
    float maximum = own.maximum;
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        maximum = fmaxf(maximum, __shfl_xor_sync(ALL, maximum, distance));
    }
    float sum = own.sum * expf(own.maximum - maximum);
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(ALL, sum, distance);
    }
    return {maximum, sum};
}

// The pair of the elements x[first], x[first + stride] and so on, of N in all.
__device__ Pair of_elements(const float* x, int first, int stride, int N)
{
    Pair found = {LOWEST, 0.0f};
    for (int column = first; column < N; column += stride) {
        found = merged(found, {x[column], 1.0f});
    }
    return found;
}

// Writes the softmax of the elements x[first], x[first + stride] and so on.
__device__ void write(const float* x, float* y, Pair row, int first, int stride, int N)
{
    const float scale = 1.0f / row.sum;  // a division takes as long as many multiplications
    for (int column = first; column < N; column += stride) {
        y[column] = expf(x[column] - row.maximum) * scale;
    }
}

// out[i] = the softmax of row i of `in`; both are M × N, row-major. A warp takes a row.
extern "C" __global__ void __launch_bounds__(WARP * WARPS)
warp_rows(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= M) {
        return;  // the whole warp; no barrier follows
    }
    const float* const x = in + size_t(row) * N;
    const Pair found = warp_merged(of_elements(x, threadIdx.x, WARP, N));
    write(x, out + size_t(row) * N, found, threadIdx.x, WARP, N);
}

// The same, a block a row.
extern "C" __global__ void __launch_bounds__(WARP * WARPS)
block_rows(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ Pair pairs[WARPS];
    const float* const x = in + size_t(blockIdx.x) * N;
    const int thread = threadIdx.y * WARP + threadIdx.x;

    const Pair of_warp = warp_merged(of_elements(x, thread, WARP * WARPS, N));
    if (threadIdx.x == 0) {
        pairs[threadIdx.y] = of_warp;
    }
    __syncthreads();  // the pairs of all warps are there
    const Pair found = warp_merged(threadIdx.x < WARPS ? pairs[threadIdx.x] : Pair{LOWEST, 0.0f});
    write(x, out + size_t(blockIdx.x) * N, found, thread, WARP * WARPS, N);
}
