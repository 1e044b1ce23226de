// A thread whose first element is -∞ has exp(-∞ - -∞), a NaN, which spoils the row.
//
// /// launch
// [[launch]]
// kernel = "softmax"
// grid = ["M"]
// block = [128]
// ///

extern "C" __global__ void softmax(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ float ms[128], ss[128];
    const float* x = in + size_t(blockIdx.x) * N;
    float m = -3.402823466e38f, s = 0;
    for (int i = threadIdx.x; i < N; i += 128) {
        if (i == threadIdx.x)
            m = x[i]; // the first one begins
        const float now = fmaxf(m, x[i]);
        s = s * expf(m - now) + expf(x[i] - now);
        m = now;
    }
    ms[threadIdx.x] = m;
    ss[threadIdx.x] = s;
    __syncthreads();
    for (int d = 64; d; d /= 2) {
        if (threadIdx.x < d) {
            const float a = ms[threadIdx.x], b = ms[threadIdx.x + d], now = fmaxf(a, b);
            ss[threadIdx.x] = ss[threadIdx.x] * expf(a - now) + ss[threadIdx.x + d] * expf(b - now);
            ms[threadIdx.x] = now;
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < N; i += 128)
        out[size_t(blockIdx.x) * N + i] = expf(x[i] - ms[0]) / ss[0];
}
