// Mistake: a thread an element. A block has 1024 threads at most, and rows may be longer.
//
// /// launch
// [[launch]]
// kernel = "softmax"
// grid = ["M"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 1024;

extern "C" __global__ void softmax(const float* in, float* out, int M, int N)
{
    __shared__ float values[BLOCK];
    const float* const x = in + size_t(blockIdx.x) * N;
    float* const y = out + size_t(blockIdx.x) * N;
    const int column = threadIdx.x;
    float value = column < N ? x[column] : -INFINITY;
    values[column] = value;
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        __syncthreads();
        if (threadIdx.x < distance) {
            values[threadIdx.x] = fmaxf(values[threadIdx.x], values[threadIdx.x + distance]);
        }
    }
    __syncthreads();
    const float maximum = values[0];
    __syncthreads();

    value = column < N ? expf(value - maximum) : 0.0f;
    values[column] = value;
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        __syncthreads();
        if (threadIdx.x < distance) {
            values[threadIdx.x] += values[threadIdx.x + distance];
        }
    }
    __syncthreads();
    if (column < N) {
        y[column] = value / values[0];
    }
}
