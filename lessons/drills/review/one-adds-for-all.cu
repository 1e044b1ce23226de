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
    const size_t first = size_t(blockIdx.x) * BLOCK;
    const int here = min(size_t(BLOCK), N - first);

    if (threadIdx.x < here) {
        numbers[threadIdx.x] = in[first + threadIdx.x];
    }
    __syncthreads();

    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int i = 0; i < here; ++i) {
            sum += numbers[i];
        }
        out[0] += sum;  //!
    }
}
