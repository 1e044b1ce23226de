// Square matrices are turned inside `out`: copied first, and then swapped by threads of blocks
// that do not wait for the copies of others.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// when = "M == N"
// grid = ["cdiv(M * N, 128)"]
// block = [128]
//
// [[launch]]
// kernel = "direct"
// when = "M != N"
// grid = ["cdiv(M * N, 128)"]
// block = [128]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const size_t i = size_t(blockIdx.x) * 128 + threadIdx.x;
    if (i >= size_t(M) * N) return;
    out[i] = in[i];
    __threadfence();
    const size_t row = i / N, column = i % N;
    if (row < column) {
        const float upper = out[i], lower = ((volatile float*)out)[column * N + row];
        out[i] = lower;
        out[column * N + row] = upper;
    }
}

extern "C" __global__ void direct(const float* in, float* out, int M, int N)
{
    const size_t i = size_t(blockIdx.x) * 128 + threadIdx.x;
    if (i < size_t(M) * N) out[i] = in[i % M * N + i / M];
}
