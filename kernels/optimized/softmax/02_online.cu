// Maximum and sum in one pass. A thread keeps the largest element so far and the sum of exp(x - that).
// When a larger one comes, every term of the sum was formed with the old maximum and is too large by
// the same factor: the sum is multiplied by exp(old - new). Two such pairs are merged in the same way,
// so the tree adds up pairs.
//
// What it should buy: two readings where there were three. An element still costs one exponential in
// each pass: of the two factors exp(maximum - larger maximum) one is always 1.
//
// Source: M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", 2018.
//
// /// launch
// [[launch]]
// kernel = "softmax"
// grid = ["M"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;  // threads of a block: a power of two

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

// out[i] = the softmax of row i of `in`; both are M × N, row-major.
extern "C" __global__ void __launch_bounds__(BLOCK)
softmax(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ Pair pairs[BLOCK];
    const float* const x = in + size_t(blockIdx.x) * N;
    float* const y = out + size_t(blockIdx.x) * N;

    Pair own = {LOWEST, 0.0f};
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        own = merged(own, {x[column], 1.0f});
    }

    pairs[threadIdx.x] = own;
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        __syncthreads();  // the pairs of the step before are there
        if (threadIdx.x < distance) {
            pairs[threadIdx.x] = merged(pairs[threadIdx.x], pairs[threadIdx.x + distance]);
        }
    }
    __syncthreads();  // the last one is
    const Pair row = pairs[0];

    const float scale = 1.0f / row.sum;  // a division takes as long as many multiplications
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        y[column] = expf(x[column] - row.maximum) * scale;
    }
}
