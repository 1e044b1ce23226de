// Rung 04 at 4096 to 8192 columns, but sums of a block come from a tree over scratch in global memory, with a
// barrier for each of its levels; a shuffle of nobody's use stands for show.
//
// deserves: 02_welford
//
// /// launch
// [[scratch]]
// name = "tree"
// dtype = "float32"
// shape = ["M", 1024]
//
// [[launch]]
// kernel = "short_rows"
// when = "N % 8 == 0 and N <= 256"
// grid = ["cdiv(M, ROWS * EACH)"]
// block = ["WARP", "ROWS"]
//
// [[launch]]
// kernel = "warp_rows<8, 4>"
// when = "N % 8 == 0 and N > 256 and N <= 1024"
// grid = ["cdiv(M, ROWS)"]
// block = ["WARP", "ROWS"]
//
// [[launch]]
// kernel = "block_rows<8, 2, 8>"
// when = "N % 8 == 0 and N > 1024 and N <= 4096"
// grid = ["M"]
// block = ["WARP", 8]
//
// [[launch]]
// kernel = "tree_rows"
// args = ["x", "gamma", "beta", "y", "tree", "M", "N", "eps"]
// when = "N % 8 == 0 and N > 4096 and N <= 8192"
// grid = ["M"]
// block = ["WARP", 8]
//
// [[launch]]
// kernel = "block_rows<8, 8, 16>"
// when = "N % 8 == 0 and N > 8192 and N <= LONG"
// grid = ["M"]
// block = ["WARP", 16]
//
// [[launch]]
// kernel = "long_rows<8>"
// when = "N % 8 == 0 and N > LONG"
// grid = ["M"]
// block = ["WARP", "WARPS"]
//
// [[launch]]
// kernel = "warp_rows<1, 1>"
// when = "N % 8 != 0 and N <= 32"
// grid = ["cdiv(M, ROWS)"]
// block = ["WARP", "ROWS"]
//
// [[launch]]
// kernel = "warp_rows<1, 32>"
// when = "N % 8 != 0 and N > 32 and N <= 1024"
// grid = ["cdiv(M, ROWS)"]
// block = ["WARP", "ROWS"]
//
// [[launch]]
// kernel = "block_rows<1, 32, 16>"
// when = "N % 8 != 0 and N > 1024 and N <= LONG_BY_ONE"
// grid = ["M"]
// block = ["WARP", 16]
//
// [[launch]]
// kernel = "long_rows<1>"
// when = "N % 8 != 0 and N > LONG_BY_ONE"
// grid = ["M"]
// block = ["WARP", "WARPS"]
// ///

#include <cuda_fp16.h>

constexpr int WARP = 32;
constexpr int ROWS = 2;             // warps of a block in which each takes a row: few, so that a
                                    // block ends soon and the next can begin
constexpr int EACH = 4;             // short rows that a warp takes at once
constexpr int WARPS = 16;           // of a block that takes a long row
constexpr int LONG = 32768;         // the longest row that a block keeps: 512 threads with 8 packs of 8
constexpr int LONG_BY_ONE = 16384;  // the same where N is no multiple of 8: with 32 packs of 1

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

// The same of a block of WARPS warps, with one barrier. `values` has room for WARPS floats.
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

// WIDTH neighbours of a row, read and written as one: 16 bytes if WIDTH is 8.
template <int WIDTH>
struct alignas(WIDTH * sizeof(half)) Pack {
    half lane[WIDTH];

    __device__ float operator[](int i) const
    {
        return __half2float(lane[i]);
    }

    __device__ float sum() const
    {
        float found = 0.0f;
        #pragma unroll
        for (int i = 0; i < WIDTH; ++i) {
            found += (*this)[i];
        }
        return found;
    }

    // The sum of (element - mean)².
    __device__ float squares(float mean) const
    {
        float found = 0.0f;
        #pragma unroll
        for (int i = 0; i < WIDTH; ++i) {
            const float d = (*this)[i] - mean;
            found += d * d;
        }
        return found;
    }

    // (element - mean) · scale · gamma + beta of each.
    __device__ Pack normal(float mean, float scale, Pack gamma, Pack beta) const
    {
        Pack found;
        #pragma unroll
        for (int i = 0; i < WIDTH; ++i) {
            found.lane[i] = __float2half(((*this)[i] - mean) * scale * gamma[i] + beta[i]);
        }
        return found;
    }
};

// A row as the kernels below are given it, in packs.
template <int WIDTH>
struct Row {
    const Pack<WIDTH>* x;
    const Pack<WIDTH>* gamma;
    const Pack<WIDTH>* beta;
    Pack<WIDTH>* y;

    __device__ Row(const half* x, const half* gamma, const half* beta, half* y, size_t start)
        : x(reinterpret_cast<const Pack<WIDTH>*>(x + start)),
          gamma(reinterpret_cast<const Pack<WIDTH>*>(gamma)),
          beta(reinterpret_cast<const Pack<WIDTH>*>(beta)),
          y(reinterpret_cast<Pack<WIDTH>*>(y + start))
    {
    }
};

// The packs of a row that a thread keeps: `first`, first + stride and so on, PACKS at most, of `count`.
template <int WIDTH, int PACKS>
struct Kept {
    Pack<WIDTH> packs[PACKS];
    int first;
    int stride;
    int count;

    __device__ Kept(const Row<WIDTH>& row, int first, int stride, int count)
        : first(first), stride(stride), count(count)
    {
        #pragma unroll
        for (int i = 0; i < PACKS; ++i) {
            if (has(i)) {
                packs[i] = row.x[first + i * stride];
            }
        }
    }

    __device__ bool has(int i) const
    {
        return first + i * stride < count;
    }

    __device__ float sum() const
    {
        float found = 0.0f;
        #pragma unroll
        for (int i = 0; i < PACKS; ++i) {
            found += has(i) ? packs[i].sum() : 0.0f;
        }
        return found;
    }

    __device__ float squares(float mean) const
    {
        float found = 0.0f;
        #pragma unroll
        for (int i = 0; i < PACKS; ++i) {
            found += has(i) ? packs[i].squares(mean) : 0.0f;
        }
        return found;
    }

    __device__ void store(const Row<WIDTH>& row, float mean, float scale) const
    {
        #pragma unroll
        for (int i = 0; i < PACKS; ++i) {
            if (has(i)) {
                const int pack = first + i * stride;
                row.y[pack] = packs[i].normal(mean, scale, row.gamma[pack], row.beta[pack]);
            }
        }
    }
};

// y[i] = the layer norm of row i of x; both are M × N, row-major, and N is a multiple of 8, up to 256. gamma
// and beta have N elements. A thread has a pack of each of EACH rows, and loads those of gamma and beta once.
extern "C" __global__ void __launch_bounds__(WARP * ROWS)
short_rows(const half* __restrict__ x, const half* __restrict__ gamma, const half* __restrict__ beta,
           half* __restrict__ y, int M, int N, float eps)
{
    const int first = (blockIdx.x * ROWS + threadIdx.y) * EACH;
    const bool has = threadIdx.x < N / 8;  // a pack
    const Row<8> rows(x, gamma, beta, y, size_t(first) * N);
    const Pack<8> nothing = {};
    const Pack<8> g = has ? rows.gamma[threadIdx.x] : nothing;
    const Pack<8> b = has ? rows.beta[threadIdx.x] : nothing;
    Pack<8> packs[EACH];
    #pragma unroll
    for (int i = 0; i < EACH; ++i) {
        packs[i] = has && first + i < M ? rows.x[i * (N / 8) + threadIdx.x] : nothing;
    }
    #pragma unroll
    for (int i = 0; i < EACH; ++i) {
        const float mean = warp_sum(packs[i].sum()) / N;
        const float squares = warp_sum(has ? packs[i].squares(mean) : 0.0f);
        if (has && first + i < M) {
            rows.y[i * (N / 8) + threadIdx.x] = packs[i].normal(mean, rsqrtf(squares / N + eps), g, b);
        }
    }
}

// The same, a warp a row of up to 32 · WIDTH · PACKS elements; N is a multiple of WIDTH.
template <int WIDTH, int PACKS>
__global__ void __launch_bounds__(WARP * ROWS)
warp_rows(const half* __restrict__ x, const half* __restrict__ gamma, const half* __restrict__ beta,
          half* __restrict__ y, int M, int N, float eps)
{
    const int index = blockIdx.x * ROWS + threadIdx.y;
    if (index >= M) {
        return;  // the whole warp; no barrier follows
    }
    const Row<WIDTH> row(x, gamma, beta, y, size_t(index) * N);
    const Kept<WIDTH, PACKS> kept(row, threadIdx.x, WARP, N / WIDTH);
    const float mean = warp_sum(kept.sum()) / N;
    kept.store(row, mean, rsqrtf(warp_sum(kept.squares(mean)) / N + eps));
}

// The same, a block of WARPS warps a row.
template <int WIDTH, int PACKS, int WARPS>
__global__ void __launch_bounds__(WARP * WARPS)
block_rows(const half* __restrict__ x, const half* __restrict__ gamma, const half* __restrict__ beta,
           half* __restrict__ y, int M, int N, float eps)
{
    __shared__ float sums[WARPS];
    __shared__ float squares[WARPS];
    const Row<WIDTH> row(x, gamma, beta, y, size_t(blockIdx.x) * N);
    const Kept<WIDTH, PACKS> kept(row, threadIdx.y * WARP + threadIdx.x, WARP * WARPS, N / WIDTH);
    const float mean = block_sum<WARPS>(kept.sum(), sums) / N;
    kept.store(row, mean, rsqrtf(block_sum<WARPS>(kept.squares(mean), squares) / N + eps));
}

__device__ float tree_sum(float value, float* tree)
{
    const int t = threadIdx.y * WARP + threadIdx.x;
    if (__shfl_xor_sync(ALL, 0, 1)) value += 1.0f;
    tree[t] = value;
    int count = 256;
    #pragma unroll 1
    for (; count > 1; count = count > 4 ? count / 8 : 1) {
        const int next = count > 4 ? count / 8 : 1;
        __syncthreads();
        float sum = 0.0f;
        if (t < next) for (int i = t; i < count; i += next) sum += tree[i];
        __syncthreads();
        if (t < next) tree[t] = sum;
    }
    __syncthreads();
    return tree[0];
}
extern "C" __global__ void __launch_bounds__(256)
tree_rows(const half* __restrict__ x, const half* __restrict__ gamma, const half* __restrict__ beta,
          half* __restrict__ y, float* tree, int M, int N, float eps)
{
    const Row<8> row(x, gamma, beta, y, size_t(blockIdx.x) * N);
    const Kept<8, 4> kept(row, threadIdx.y * WARP + threadIdx.x, 256, N / 8);
    float* const own = tree + size_t(blockIdx.x) * 1024;
    const float mean = tree_sum(kept.sum(), own) / N;
    kept.store(row, mean, rsqrtf(tree_sum(kept.squares(mean), own + 512) / N + eps));
}

// Of some elements: how many, their mean, and the sum of (element - mean)².
struct Moments {
    float count;
    float mean;
    float squares;
};

// The moments of the elements of both, of which one has some: every thread has a pack of a long row,
// and lanes without a warp's moments merge with lanes that have some first.
__device__ Moments merged(Moments a, Moments b)
{
    const float count = a.count + b.count;
    const float d = b.mean - a.mean;
    const float share = b.count / count;
    return {count, a.mean + d * share, a.squares + b.squares + d * d * a.count * share};
}

// Every thread of the warp gets the moments of the elements of all 32.
__device__ Moments warp_merged(Moments own)
{
    #pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        own = merged(own, {__shfl_xor_sync(ALL, own.count, distance),
                           __shfl_xor_sync(ALL, own.mean, distance),
                           __shfl_xor_sync(ALL, own.squares, distance)});
    }
    return own;
}

// The same for rows of any length, which are read twice.
template <int WIDTH>
__global__ void __launch_bounds__(WARP * WARPS)
long_rows(const half* __restrict__ x, const half* __restrict__ gamma, const half* __restrict__ beta,
          half* __restrict__ y, int M, int N, float eps)
{
    __shared__ Moments moments[WARPS];
    const Row<WIDTH> row(x, gamma, beta, y, size_t(blockIdx.x) * N);
    const int thread = threadIdx.y * WARP + threadIdx.x;

    Moments own = {0.0f, 0.0f, 0.0f};
    for (int pack = thread; pack < N / WIDTH; pack += WARP * WARPS) {
        const Pack<WIDTH> elements = row.x[pack];
        const float mean = elements.sum() / WIDTH;
        own = merged(own, {float(WIDTH), mean, elements.squares(mean)});
    }
    const Moments of_warp = warp_merged(own);
    if (threadIdx.x == 0) {
        moments[threadIdx.y] = of_warp;
    }
    __syncthreads();  // the moments of all warps are there
    const Moments all = warp_merged(threadIdx.x < WARPS ? moments[threadIdx.x] : Moments{0.0f, 0.0f, 0.0f});
    const float scale = rsqrtf(all.squares / N + eps);
    for (int pack = thread; pack < N / WIDTH; pack += WARP * WARPS) {
        const Pack<WIDTH> elements = row.x[pack];
        row.y[pack] = elements.normal(all.mean, scale, row.gamma[pack], row.beta[pack]);
    }
}
