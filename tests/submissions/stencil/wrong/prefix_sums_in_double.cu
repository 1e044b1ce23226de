// Mistake: a block makes prefix sums in double and takes differences, with a check that all is finite; numbers of very
// different size (1e30 beside 1e-3) lose the small ones, whose windows come out 0. Wrong where a tile has 1e30 and
// windows of 1e-3 behind it. Contract: any floats; |error| is relative to the window's own elements.
//
// reason: (?s)^(?!.*flushes)
//
// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, 64)"]
// block = [64]
// ///
extern "C" __global__ void stencil(const float* in, float* out, int N)
{
    __shared__ double prefix[81];
    __shared__ float own[80];
    const long long first = (long long)blockIdx.x * 64 - 8;
    for (int j = threadIdx.x; j < 80; j += 64) own[j] = first + j >= 0 && first + j < N ? in[first + j] : 0.0f;
    __syncthreads();
    bool fine = isfinite(own[threadIdx.x]) && (threadIdx.x >= 16 || isfinite(own[threadIdx.x + 64]));
    fine = __syncthreads_and(fine);
    if (threadIdx.x == 0) {
        double sum = 0; prefix[0] = 0;
        for (int j = 0; j < 80; ++j) prefix[j + 1] = sum += own[j];
    }
    __syncthreads();
    const long long i = first + 8 + threadIdx.x;
    if (i >= N) return;
    if (fine) { out[i] = float(prefix[threadIdx.x + 17] - prefix[threadIdx.x]); return; }
    float sum = 0.0f;
    for (int j = 0; j < 17; ++j) sum += own[threadIdx.x + j];
    out[i] = sum;
}
