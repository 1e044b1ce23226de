// Mean and variance in one pass. A thread keeps of its elements so far their count, their mean and the
// sum of their squared differences from it. A new element moves the mean a little towards itself, and
// the sum of squares grows by its distance from the mean before, times that from the mean after.
// Two such triples are merged by a formula as well, so the tree adds up triples.
//
// What it should buy: two readings where there were three. The obvious way to one pass, the mean of x²
// minus the square of the mean, subtracts two large numbers that may differ in their last digits only.
// Here the mean is subtracted before anything is squared.
//
// Sources: B. P. Welford, "Note on a method for calculating corrected sums of squares and products",
// 1962; T. F. Chan, G. H. Golub, R. J. LeVeque, "Updating formulae and a pairwise algorithm for
// computing sample variances", 1979.
//
// /// launch
// [[launch]]
// kernel = "layernorm"
// grid = ["M"]
// block = ["BLOCK"]
// ///

#include <cuda_fp16.h>

constexpr int BLOCK = 256;  // threads of a block: a power of two

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

// y[i] = the layer norm of row i of x; both are M × N, row-major. gamma and beta have N elements.
extern "C" __global__ void __launch_bounds__(BLOCK)
layernorm(const half* __restrict__ x, const half* __restrict__ gamma, const half* __restrict__ beta,
          half* __restrict__ y, int M, int N, float eps)
{
    __shared__ Moments moments[BLOCK];
    const half* const row_x = x + size_t(blockIdx.x) * N;
    half* const row_y = y + size_t(blockIdx.x) * N;

    Moments own = {0.0f, 0.0f, 0.0f};
    #pragma unroll 8  // each update waits for the one before, but eight loads may be in flight
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        own = with(own, __half2float(row_x[column]));
    }

    moments[threadIdx.x] = own;
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        __syncthreads();  // the moments of the step before are there
        if (threadIdx.x < distance) {
            moments[threadIdx.x] = merged(moments[threadIdx.x], moments[threadIdx.x + distance]);
        }
    }
    __syncthreads();  // the last ones are
    const float mean = moments[0].mean;
    const float scale = rsqrtf(moments[0].squares / N + eps);

    for (int column = threadIdx.x; column < N; column += BLOCK) {
        const float normal = (__half2float(row_x[column]) - mean) * scale;
        row_y[column] = __float2half(normal * __half2float(gamma[column]) + __half2float(beta[column]));
    }
}
