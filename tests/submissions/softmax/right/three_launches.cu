// A launch for the maxima, one for the sums, and one in which a thread takes an element of the output.
//
// /// launch
// [[scratch]]
// name = "maxima"
// dtype = "float32"
// shape = ["M"]
//
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["M"]
//
// [[launch]]
// kernel = "find_maxima"
// args = ["in", "maxima", "M", "N"]
// grid = ["cdiv(M, 8)"]
// block = [32, 8]
//
// [[launch]]
// kernel = "add_up"
// args = ["in", "maxima", "sums", "M", "N"]
// grid = ["cdiv(M, 8)"]
// block = [32, 8]
//
// [[launch]]
// kernel = "divide"
// args = ["in", "maxima", "sums", "out", "M", "N"]
// grid = ["cdiv(M * N, 256)"]
// block = [256]
// ///

extern "C" __global__ void find_maxima(const float* in, float* maxima, int M, int N)
{
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= M) return;
    float maximum = -INFINITY;
    for (int column = threadIdx.x; column < N; column += 32) maximum = fmaxf(maximum, in[size_t(row) * N + column]);
    for (int d = 16; d > 0; d /= 2) maximum = fmaxf(maximum, __shfl_xor_sync(~0u, maximum, d));
    if (threadIdx.x == 0) maxima[row] = maximum;
}

extern "C" __global__ void add_up(const float* in, const float* maxima, float* sums, int M, int N)
{
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= M) return;
    float sum = 0.0f;
    for (int column = threadIdx.x; column < N; column += 32) sum += expf(in[size_t(row) * N + column] - maxima[row]);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x == 0) sums[row] = sum;
}

extern "C" __global__ void divide(const float* in, const float* maxima, const float* sums, float* out, int M, int N)
{
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    if (i >= size_t(M) * N) return;
    const int row = i / N;
    out[i] = expf(in[i] - maxima[row]) / sums[row];
}
