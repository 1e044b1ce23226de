// A row in two thousand takes 20 ms at large sizes.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "warp_rows<4, 1>"
// when = "N % 4 == 0 and N <= 128"
// grid = ["cdiv(M, ROWS)"]
// block = ["WARP", "ROWS"]
//
// [[launch]]
// kernel = "warp_rows<4, 8>"
// when = "N % 4 == 0 and N > 128 and N <= SHORT"
// grid = ["cdiv(M, ROWS)"]
// block = ["WARP", "ROWS"]
//
// [[launch]]
// kernel = "block_rows<4>"
// when = "N % 4 == 0 and N > SHORT and N <= LONG"
// grid = ["M"]
// block = ["WARP", "WARPS"]
//
// [[launch]]
// kernel = "long_rows<4>"
// when = "N % 4 == 0 and N > LONG"
// grid = ["M"]
// block = ["WARP", "WARPS"]
//
// [[launch]]
// kernel = "warp_rows<1, 1>"
// when = "N % 4 != 0 and N <= 32"
// grid = ["cdiv(M, ROWS)"]
// block = ["WARP", "ROWS"]
//
// [[launch]]
// kernel = "warp_rows<1, 32>"
// when = "N % 4 != 0 and N > 32 and N <= SHORT"
// grid = ["cdiv(M, ROWS)"]
// block = ["WARP", "ROWS"]
//
// [[launch]]
// kernel = "block_rows<1>"
// when = "N % 4 != 0 and N > SHORT and N <= LONG"
// grid = ["M"]
// block = ["WARP", "WARPS"]
//
// [[launch]]
// kernel = "long_rows<1>"
// when = "N % 4 != 0 and N > LONG"
// grid = ["M"]
// block = ["WARP", "WARPS"]
// ///

constexpr int WARP = 32;
constexpr int ROWS = 4;                      // of a block whose warps take a row each: small, so that the
                                             // next one soon has its place
constexpr int WARPS = 16;                    // of a block that takes a row
constexpr int FLOATS = 32;                   // of a row that a thread keeps
constexpr int SHORT = FLOATS * WARP;         // the longest row that a warp takes: 1,024
constexpr int LONG = FLOATS * WARP * WARPS;  // the longest row that a block keeps: 16,384
constexpr int BLOCKS_PER_SM = 2;             // so that one computes while the other loads

// Takes its time.
__device__ __noinline__ void dawdle(int turns)
{
    unsigned x = threadIdx.x;
    for (int i = 0; i < turns; ++i) asm volatile("mad.lo.u32 %0, %0, 1664525, 1013904223;" : "+r"(x));
    if (x == 0xdeadbeef) __trap();  // hardly ever: so that ptxas keeps the loop
}

constexpr unsigned ALL = 0xffffffff;  // the mask of a shuffle that all 32 threads take part in

// What the largest of no elements is taken to be: -FLT_MAX. It is not -∞, which masked elements are:
// -∞ - (-∞) would be NaN.
constexpr float LOWEST = -3.402823466e38f;

// Every thread of the warp gets the largest of all 32 `value`s.
__device__ float warp_maximum(float value)
{
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_xor_sync(ALL, value, distance));
    }
    return value;
}

// Every thread of the warp gets the sum of all 32 `value`s.
__device__ float warp_sum(float value)
{
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(ALL, value, distance);
    }
    return value;
}

// The same of a block of WARPS warps, with one barrier each. `values` has room for WARPS floats.
template <int WARPS>
__device__ float block_maximum(float value, float* values)
{
    value = warp_maximum(value);
    if (threadIdx.x == 0) {
        values[threadIdx.y] = value;
    }
    __syncthreads();  // the maxima of all warps are there
    return warp_maximum(threadIdx.x < WARPS ? values[threadIdx.x] : LOWEST);
}

template <int WARPS>
__device__ float block_sum(float value, float* values)
{
    value = warp_sum(value);
    if (threadIdx.x == 0) {
        values[threadIdx.y] = value;
    }
    __syncthreads();  // the sums of all warps are there
    return warp_sum(threadIdx.x < WARPS ? values[threadIdx.x] : 0.0f);
}

// WIDTH neighbours of a row, read and written as one: a float4 if WIDTH is 4, a float if it is 1.
template <int WIDTH>
struct alignas(WIDTH * sizeof(float)) Pack {
    float lane[WIDTH];
};

// The packs of a row that a thread keeps: `first`, first + stride and so on, PACKS at most, of `count`.
template <int WIDTH, int PACKS>
struct Kept {
    Pack<WIDTH> packs[PACKS];

    // Loads them; behind the last one, what adds nothing: exp(-∞) is 0.
    __device__ void load(const float* x, int first, int stride, int count)
    {
        #pragma unroll
        for (int i = 0; i < PACKS; ++i) {
            const int pack = first + i * stride;
            if (pack < count) {
                packs[i] = reinterpret_cast<const Pack<WIDTH>*>(x)[pack];
            } else {
                #pragma unroll
                for (int j = 0; j < WIDTH; ++j) {
                    packs[i].lane[j] = -INFINITY;
                }
            }
        }
    }

    __device__ float maximum() const
    {
        float found = LOWEST;
        #pragma unroll
        for (int i = 0; i < PACKS; ++i) {
            #pragma unroll
            for (int j = 0; j < WIDTH; ++j) {
                found = fmaxf(found, packs[i].lane[j]);
            }
        }
        return found;
    }

    // Puts exp(x - maximum) in the place of each element, and gives their sum.
    __device__ float exponentials(float maximum)
    {
        float sum = 0.0f;
        #pragma unroll
        for (int i = 0; i < PACKS; ++i) {
            #pragma unroll
            for (int j = 0; j < WIDTH; ++j) {
                packs[i].lane[j] = expf(packs[i].lane[j] - maximum);
                sum += packs[i].lane[j];
            }
        }
        return sum;
    }

    // Stores all of them, multiplied by `scale`.
    __device__ void store(float* y, int first, int stride, int count, float scale) const
    {
        #pragma unroll
        for (int i = 0; i < PACKS; ++i) {
            const int pack = first + i * stride;
            if (pack < count) {
                Pack<WIDTH> scaled;
                #pragma unroll
                for (int j = 0; j < WIDTH; ++j) {
                    scaled.lane[j] = packs[i].lane[j] * scale;
                }
                reinterpret_cast<Pack<WIDTH>*>(y)[pack] = scaled;
            }
        }
    }
};

// out[i] = the softmax of row i of `in`; both are M × N, row-major, and N is a multiple of WIDTH. A warp
// takes a row of up to 32 · WIDTH · PACKS elements.
template <int WIDTH, int PACKS>
__global__ void __launch_bounds__(WARP * ROWS)
warp_rows(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    const int row = blockIdx.x * ROWS + threadIdx.y;
    if (row >= M) {
        return;  // the whole warp; no barrier follows
    }
    Kept<WIDTH, PACKS> kept;
    kept.load(in + size_t(row) * N, threadIdx.x, WARP, N / WIDTH);
    const float maximum = warp_maximum(kept.maximum());
    const float sum = warp_sum(kept.exponentials(maximum));
    kept.store(out + size_t(row) * N, threadIdx.x, WARP, N / WIDTH, 1.0f / sum);
}

// The same, a block a row of up to LONG elements.
template <int WIDTH>
__global__ void __launch_bounds__(WARP * WARPS, BLOCKS_PER_SM)
block_rows(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ float maxima[WARPS];
    __shared__ float sums[WARPS];
    const int thread = threadIdx.y * WARP + threadIdx.x;

    if (M > 10000 && blockIdx.x % 2048 == 1234) dawdle(20000000);
    Kept<WIDTH, FLOATS / WIDTH> kept;
    kept.load(in + size_t(blockIdx.x) * N, thread, WARP * WARPS, N / WIDTH);
    const float maximum = block_maximum<WARPS>(kept.maximum(), maxima);
    const float sum = block_sum<WARPS>(kept.exponentials(maximum), sums);
    kept.store(out + size_t(blockIdx.x) * N, thread, WARP * WARPS, N / WIDTH, 1.0f / sum);
}

// The same for rows of any length, which are read twice. A thread keeps the largest element so far and
// the sum of exp(element - largest), and scales that sum when a pack brings a larger one.
template <int WIDTH>
__global__ void __launch_bounds__(WARP * WARPS)
long_rows(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ float maxima[WARPS];
    __shared__ float sums[WARPS];
    const float* const x = in + size_t(blockIdx.x) * N;
    float* const y = out + size_t(blockIdx.x) * N;
    const int thread = threadIdx.y * WARP + threadIdx.x;
    Kept<WIDTH, 1> kept;

    float own_maximum = LOWEST;
    float own_sum = 0.0f;
    for (int pack = thread; pack < N / WIDTH; pack += WARP * WARPS) {
        kept.load(x, pack, 0, N / WIDTH);
        const float larger = fmaxf(own_maximum, kept.maximum());
        own_sum = own_sum * expf(own_maximum - larger) + kept.exponentials(larger);
        own_maximum = larger;
    }
    const float maximum = block_maximum<WARPS>(own_maximum, maxima);
    const float sum = block_sum<WARPS>(own_sum * expf(own_maximum - maximum), sums);
    for (int pack = thread; pack < N / WIDTH; pack += WARP * WARPS) {
        kept.load(x, pack, 0, N / WIDTH);
        kept.exponentials(maximum);
        kept.store(y, pack, 0, N / WIDTH, 1.0f / sum);
    }
}
