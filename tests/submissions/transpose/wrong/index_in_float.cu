// The row is found by a division of floats, exact up to 2²⁴.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M * N, 256)"]
// block = [256]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    if (i >= size_t(M) * N) return;
    const size_t row = size_t((float(i) + 0.5f) / float(N)), column = i - row * N;
    if (row < M && column < N) out[column * M + row] = in[i];
}
