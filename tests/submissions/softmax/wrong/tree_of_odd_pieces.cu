// Rows of whole pieces of 1024 are merged by a tree that halves: wrong where N / 1024 is no power
// of two (N = 3072, 5120).
//
// /// launch
// [[scratch]]
// name = "pairs"
// dtype = "float32"
// shape = ["M", "cdiv(N, PIECE)", 2]
//
// [[launch]]
// kernel = "pieces"
// when = "N % PIECE == 0"
// args = ["in", "pairs", "M", "N"]
// grid = ["M * (N // PIECE)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "finish"
// when = "N % PIECE == 0"
// args = ["in", "pairs", "out", "M", "N"]
// grid = ["M * (N // PIECE)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "softmax"
// when = "N % PIECE != 0"
// args = ["in", "out", "M", "N"]
// grid = ["M"]
// block = ["BLOCK"]
// ///
constexpr int PIECE = 1024;

constexpr int BLOCK = 256;
constexpr unsigned ALL = 0xffffffff;

__device__ float all_of(float value, bool maximum)
{
    __shared__ float values[BLOCK / 32];
    for (int d = 16; d > 0; d /= 2) {
        const float other = __shfl_xor_sync(ALL, value, d);
        value = maximum ? fmaxf(value, other) : value + other;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) values[threadIdx.x / 32] = value;
    __syncthreads();
    value = values[0];
    for (int w = 1; w < BLOCK / 32; ++w) value = maximum ? fmaxf(value, values[w]) : value + values[w];
    return value;
}

extern "C" __global__ void pieces(const float* __restrict__ in, float* __restrict__ pairs, int M, int N)
{
    const float* const x = in + size_t(blockIdx.x) * PIECE;
    float maximum = -3.0e38f;
    for (int i = threadIdx.x; i < PIECE; i += BLOCK) maximum = fmaxf(maximum, x[i]);
    maximum = all_of(maximum, true);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < PIECE; i += BLOCK) sum += expf(x[i] - maximum);
    sum = all_of(sum, false);
    if (threadIdx.x == 0) {
        pairs[2 * size_t(blockIdx.x)] = maximum;
        pairs[2 * size_t(blockIdx.x) + 1] = sum;
    }
}

extern "C" __global__ void finish(const float* __restrict__ in, const float* __restrict__ pairs, float* __restrict__ out,
                                  int M, int N)
{
    __shared__ float2 merged[1024];
    const int count = N / PIECE;
    const size_t row = blockIdx.x / count;
    for (int i = threadIdx.x; i < count; i += BLOCK) merged[i] = {pairs[2 * (row * count + i)], pairs[2 * (row * count + i) + 1]};
    for (int half = count / 2; half > 0; half /= 2) {
        __syncthreads();
        for (int i = threadIdx.x; i < half; i += BLOCK) {
            const float2 a = merged[i], b = merged[i + half];
            const float m = fmaxf(a.x, b.x);
            merged[i] = {m, a.y * expf(a.x - m) + b.y * expf(b.x - m)};
        }
    }
    __syncthreads();
    const float2 all = merged[0];
    const size_t first = size_t(blockIdx.x) * PIECE;
    for (int i = threadIdx.x; i < PIECE; i += BLOCK) out[first + i] = expf(in[first + i] - all.x) / all.y;
}

extern "C" __global__ void softmax(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    const float* const x = in + size_t(blockIdx.x) * N;
    float* const y = out + size_t(blockIdx.x) * N;
    float maximum = -3.0e38f;
    for (int i = threadIdx.x; i < N; i += BLOCK) maximum = fmaxf(maximum, x[i]);
    maximum = all_of(maximum, true);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < N; i += BLOCK) sum += expf(x[i] - maximum);
    sum = all_of(sum, false);
    for (int i = threadIdx.x; i < N; i += BLOCK) y[i] = expf(x[i] - maximum) / sum;
}
