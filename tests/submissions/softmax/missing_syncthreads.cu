// Mistake: no barrier between reading the maximum from the shared array and storing sums into it.
//
// /// launch
// [[launch]]
// kernel = "softmax"
// grid = ["M"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void softmax(const float* in, float* out, int M, int N)
{
    __shared__ float values[BLOCK];
    const float* const x = in + size_t(blockIdx.x) * N;
    float* const y = out + size_t(blockIdx.x) * N;
    float maximum = -INFINITY;
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        maximum = fmaxf(maximum, x[column]);
    }
    values[threadIdx.x] = maximum;
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        __syncthreads();
        if (threadIdx.x < distance) {
            values[threadIdx.x] = fmaxf(values[threadIdx.x], values[threadIdx.x + distance]);
        }
    }
    __syncthreads();
    maximum = values[0];

    float sum = 0.0f;
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        sum += expf(x[column] - maximum);
    }
    values[threadIdx.x] = sum;
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        __syncthreads();
        if (threadIdx.x < distance) {
            values[threadIdx.x] += values[threadIdx.x + distance];
        }
    }
    __syncthreads();
    sum = values[0];

    for (int column = threadIdx.x; column < N; column += BLOCK) {
        y[column] = expf(x[column] - maximum) / sum;
    }
}
