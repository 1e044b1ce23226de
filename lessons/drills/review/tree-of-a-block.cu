// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    __shared__ float numbers[BLOCK];
    const size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x;
    numbers[threadIdx.x] = i < N ? in[i] : 0.0f;
    __syncthreads();

    for (int half = BLOCK / 2; half > 0; half /= 2) {  //!
        if (threadIdx.x < half) {
            numbers[threadIdx.x] += numbers[threadIdx.x + half];  //~
        }  //!
    }
    if (threadIdx.x == 0) {
        atomicAdd(out, numbers[0]);
    }
}
