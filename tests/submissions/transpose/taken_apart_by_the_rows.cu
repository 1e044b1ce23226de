// A flat index is taken apart by M, and rows are N long.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M * N, THREADS)"]
// block = ["THREADS"]
// ///

constexpr int THREADS = 256;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const size_t i = size_t(blockIdx.x) * THREADS + threadIdx.x;
    if (i < size_t(M) * N) {
        const int row = i / M;
        const int col = i % M;
        out[size_t(col) * M + row] = in[i];
    }
}
