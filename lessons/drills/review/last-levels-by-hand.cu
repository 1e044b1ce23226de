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
    const int t = threadIdx.x;
    const size_t i = size_t(blockIdx.x) * BLOCK + t;
    numbers[t] = i < N ? in[i] : 0.0f;
    __syncthreads();

    for (int half = BLOCK / 2; half > 32; half /= 2) {
        if (t < half) {
            numbers[t] += numbers[t + half];
        }
        __syncthreads();
    }
    if (t < 32) {
        volatile float* v = numbers;
        v[t] += v[t + 32];  //!
        v[t] += v[t + 16];  //!
        v[t] += v[t + 8];  //!
        v[t] += v[t + 4];  //!
        v[t] += v[t + 2];  //!
        v[t] += v[t + 1];  //!
        if (t == 0) {
            atomicAdd(out, v[0]);
        }
    }
}
