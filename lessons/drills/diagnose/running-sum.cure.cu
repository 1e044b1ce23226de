// Each thread walks through the array with the stride of the grid
// and adds in a register; the tree comes once.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["min(SMS * 4, cdiv(N, BLOCK))"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 512;

// out[0] += the sum of the N numbers of `in`.
extern "C" __global__ void reduce(const float* __restrict__ in,
                                  float* __restrict__ out, int N)
{
    __shared__ float sums[BLOCK];

    float sum = 0.0f;
    const long long stride = (long long)gridDim.x * BLOCK;
    for (long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
         i < N; i += stride) {
        sum += in[i];
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
