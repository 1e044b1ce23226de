// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["min(cdiv(N, BLOCK), 2 * SMS)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    __shared__ float numbers[BLOCK];
    const int t = threadIdx.x;

    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * BLOCK + t; i < N; i += size_t(gridDim.x) * BLOCK) {  //!
        numbers[t] = in[i];
        __syncthreads();  //~
        if (t < 32) {
            for (int j = t; j < BLOCK; j += 32) {
                sum += numbers[j];  //~
            }
        }
        __syncthreads();  //~
    }

    if (t < 32) {
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(0xffffffff, sum, distance);
        }
        if (t == 0) {
            atomicAdd(out, sum);
        }
    }
}
