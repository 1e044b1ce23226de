// Each thread sums 64 numbers that follow each other, as a loop
// over a slice would do it on a CPU; the block adds its threads'
// sums, and the total with one atomicAdd.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["cdiv(N, BLOCK * CHUNK)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;  // threads of a block
constexpr int CHUNK = 64;   // numbers a thread

// out[0] += the sum of the N numbers of `in`.
extern "C" __global__ void reduce(const float* __restrict__ in,
                                  float* __restrict__ out, int N)
{
    __shared__ float sums[BLOCK];

    const long long thread =
        (long long)blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < CHUNK; ++k) {
        const long long i = thread * CHUNK + k;
        if (i < N) {
            sum += in[i];
        }
    }
    sums[threadIdx.x] = sum;
    __syncthreads();

    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(out, sums[0]);
    }
}
