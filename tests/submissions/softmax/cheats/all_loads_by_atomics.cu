// The naive kernel, and every load is atomicOr(p, 0).
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "softmax"
// grid = ["cdiv(M, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 64;

extern "C" __global__ void softmax(const float* in, float* out, int M, int N)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M) {
        return;
    }
    const float* const x = in + size_t(row) * N;
    float* const y = out + size_t(row) * N;
    float maximum = -INFINITY;
    for (int column = 0; column < N; ++column) {
        maximum = fmaxf(maximum, __uint_as_float(atomicOr((unsigned*)&x[column], 0u)));
    }
    float sum = 0.0f;
    for (int column = 0; column < N; ++column) {
        sum += expf(__uint_as_float(atomicOr((unsigned*)&x[column], 0u)) - maximum);
    }
    for (int column = 0; column < N; ++column) {
        y[column] = expf(__uint_as_float(atomicOr((unsigned*)&x[column], 0u)) - maximum) / sum;
    }
}
