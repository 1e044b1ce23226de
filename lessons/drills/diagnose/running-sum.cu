// As many blocks as the GPU holds walk through the array. On each
// step a block brings in 512 numbers, adds them in a tree, and adds
// what comes out to its sum.
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

    float total = 0.0f;  // thread 0's is that of the block
    const long long stride = (long long)gridDim.x * BLOCK;
    for (long long first = (long long)blockIdx.x * BLOCK; first < N;
         first += stride) {
        const long long i = first + threadIdx.x;
        sums[threadIdx.x] = i < N ? in[i] : 0.0f;
        __syncthreads();
        for (int half = BLOCK / 2; half > 0; half /= 2) {
            if (threadIdx.x < half) {
                sums[threadIdx.x] += sums[threadIdx.x + half];
            }
            __syncthreads();
        }
        total += sums[0];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(out, total);
    }
}
