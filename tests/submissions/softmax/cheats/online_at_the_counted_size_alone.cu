// Rows of 16,384 alone are read twice; all others have three passes of a thread.
//
// deserves: 02_online
//
// /// launch
// [[launch]]
// kernel = "thread_a_row"
// when = "N != 16384"
// grid = ["cdiv(M, 64)"]
// block = [64]
//
// [[launch]]
// kernel = "warp_a_row"
// when = "N == 16384"
// grid = ["M"]
// block = [32]
// ///

extern "C" __global__ void thread_a_row(const float* in, float* out, int M, int N)
{
    const int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= M) return;
    const float* const x = in + size_t(row) * N;
    float maximum = -INFINITY, sum = 0.0f;
    for (int i = 0; i < N; ++i) maximum = fmaxf(maximum, x[i]);
    for (int i = 0; i < N; ++i) sum += expf(x[i] - maximum);
    for (int i = 0; i < N; ++i) out[size_t(row) * N + i] = expf(x[i] - maximum) / sum;
}

extern "C" __global__ void warp_a_row(const float* in, float* out, int M, int N)
{
    const float* const x = in + size_t(blockIdx.x) * N;
    float* const y = out + size_t(blockIdx.x) * N;
    float maximum = -INFINITY, sum = 0.0f;
    for (int i = threadIdx.x; i < N; i += 32) {
        y[i] = x[i];
        maximum = fmaxf(maximum, x[i]);
    }
    for (int d = 16; d > 0; d /= 2) maximum = fmaxf(maximum, __shfl_xor_sync(~0u, maximum, d));
    for (int i = threadIdx.x; i < N; i += 32) {
        y[i] = expf(y[i] - maximum);
        sum += y[i];
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    for (int i = threadIdx.x; i < N; i += 32) y[i] /= sum;
}
