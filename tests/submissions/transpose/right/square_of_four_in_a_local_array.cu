// A thread turns 4 × 4 elements in a local array whose indices are known only when it runs.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(cdiv(M, 4) * cdiv(N, 4), 128)"]
// block = [128]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int across = (N + 3) / 4, down = (M + 3) / 4;
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= across * down) return;
    const int top = i / across * 4, left = i % across * 4;
    const int rows = min(4, M - top), columns = min(4, N - left);
    float square[16];
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c) square[c * 4 + r] = in[size_t(top + r) * N + left + c];
    for (int c = 0; c < columns; ++c)
        for (int r = 0; r < rows; ++r) out[size_t(left + c) * M + top + r] = square[c * 4 + r];
}
