// Threads of a warp merge their moments by shuffles, in registers: five steps, and every thread has
// those of all 32. A block of eight warps exchanges eight of them through shared memory, with one
// barrier. Where a row is short, a warp takes it alone, and no barrier is needed at all.
//
// What it should buy: little where rows are long, since the tree of the rung before ran once in 32
// elements a thread. Where rows are short it ran more often than a thread added: at 256 columns each
// thread of a block of 256 had one element, and then took nine barriers.
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

#include <cuda_fp16.h>

constexpr int WARP = 32;
constexpr int WARPS = 8;     // of a block
constexpr int SHORT = 1024;  // the longest row that a warp takes alone: 32 elements a thread

constexpr unsigned ALL = 0xffffffff;  // the mask of a shuffle that all 32 threads take part in

// Of some elements: how many, their mean, and the sum of (element - mean)².
struct Moments {
    float count;
    float mean;
    float squares;
};

// The moments of one element more.
__device__ Moments with(Moments m, float element)
{
    const float count = m.count + 1.0f;
    const float before = element - m.mean;
    const float mean = m.mean + __fdividef(before, count);
    return {count, mean, m.squares + before * (element - mean)};
}

// The moments of the elements of both.
__device__ Moments merged(Moments a, Moments b)
{
    const float count = a.count + b.count;
    if (count == 0.0f) {
        return a;
    }
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

// A row, as the kernels below are given it.
struct Row {
    const half* x;
    const half* gamma;
    const half* beta;
    half* y;
    int N;

    // The moments of the elements first, first + stride and so on.
    __device__ Moments moments(int first, int stride) const
    {
        Moments found = {0.0f, 0.0f, 0.0f};
        #pragma unroll 8
        for (int column = first; column < N; column += stride) {
            found = with(found, __half2float(x[column]));
        }
        return found;
    }

    // Writes the layer norm of these elements.
    __device__ void write(Moments row, float eps, int first, int stride) const
    {
        const float scale = rsqrtf(row.squares / N + eps);
        for (int column = first; column < N; column += stride) {
            const float normal = (__half2float(x[column]) - row.mean) * scale;
            y[column] = __float2half(normal * __half2float(gamma[column]) + __half2float(beta[column]));
        }
    }
};

// y[i] = the layer norm of row i of x; both are M × N, row-major. gamma and beta have N elements. A warp
// takes a row.
extern "C" __global__ void __launch_bounds__(WARP * WARPS)
warp_rows(const half* __restrict__ x, const half* __restrict__ gamma, const half* __restrict__ beta,
          half* __restrict__ y, int M, int N, float eps)
{
    const int index = blockIdx.x * WARPS + threadIdx.y;
    if (index >= M) {
        return;  // the whole warp; no barrier follows
    }
    const Row row = {x + size_t(index) * N, gamma, beta, y + size_t(index) * N, N};
    row.write(warp_merged(row.moments(threadIdx.x, WARP)), eps, threadIdx.x, WARP);
}

// The same, a block a row.
extern "C" __global__ void __launch_bounds__(WARP * WARPS)
block_rows(const half* __restrict__ x, const half* __restrict__ gamma, const half* __restrict__ beta,
           half* __restrict__ y, int M, int N, float eps)
{
    __shared__ Moments moments[WARPS];
    const Row row = {x + size_t(blockIdx.x) * N, gamma, beta, y + size_t(blockIdx.x) * N, N};
    const int thread = threadIdx.y * WARP + threadIdx.x;

    const Moments of_warp = warp_merged(row.moments(thread, WARP * WARPS));
    if (threadIdx.x == 0) {
        moments[threadIdx.y] = of_warp;
    }
    __syncthreads();  // the moments of all warps are there
    const Moments all = warp_merged(threadIdx.x < WARPS ? moments[threadIdx.x] : Moments{0.0f, 0.0f, 0.0f});
    row.write(all, eps, thread, WARP * WARPS);
}
