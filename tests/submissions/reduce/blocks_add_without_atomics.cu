// Wrong: every block adds its sum to the output with +=. Blocks run at the same time, and their sums get lost.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    __shared__ float numbers[BLOCK];
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    numbers[threadIdx.x] = i < N ? in[i] : 0.0f;
    __syncthreads();
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) {
            numbers[threadIdx.x] += numbers[threadIdx.x + step];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        *out += numbers[0];
    }
}
