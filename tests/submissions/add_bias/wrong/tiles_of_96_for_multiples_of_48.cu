// Wide matrices whose N is a multiple of 48 go in tiles of 96 columns without a guard and with a grid rounded down: the last
// 48 columns are lost where N / 48 is odd. Wrong for N = 1008 (21 * 48), M any.
//
// /// launch
// [[launch]]
// kernel = "wide"
// when = "N % 48 == 0 and N >= 960"
// args = ["in", "bias", "out", "M", "N"]
// grid = ["N // 96", "min(M, 1024)"]
// block = [96]
//
// [[launch]]
// kernel = "any"
// when = "N % 48 != 0 or N < 960"
// args = ["in", "bias", "out", "M", "N"]
// grid = ["cdiv(N, 128)", "min(M, 1024)"]
// block = [128]
// ///
extern "C" __global__ void wide(const float* in, const float* bias, float* out, int M, int N)
{
    const int column = blockIdx.x * 96 + threadIdx.x;
    const float b = bias[column];
    for (int row = blockIdx.y; row < M; row += gridDim.y) out[size_t(row) * N + column] = in[size_t(row) * N + column] + b;
}
extern "C" __global__ void any(const float* in, const float* bias, float* out, int M, int N)
{
    const int column = blockIdx.x * 128 + threadIdx.x;
    if (column >= N) return;
    const float b = bias[column];
    for (int row = blockIdx.y; row < M; row += gridDim.y) out[size_t(row) * N + column] = in[size_t(row) * N + column] + b;
}
