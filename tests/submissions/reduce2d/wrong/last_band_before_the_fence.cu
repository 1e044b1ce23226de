// Every thread stores its part of a column sum, thread 0 alone has a fence before it counts, and
// no barrier stands between the stores of the others and the counter.
//
// /// launch
// [[scratch]]
// name = "parts"
// dtype = "float32"
// shape = ["cdiv(M, 16)", "N"]
//
// [[scratch]]
// name = "done"
// dtype = "uint32"
// shape = [1]
//
// [[launch]]
// kernel = "rows_of"
// args = ["in", "rows", "M", "N"]
// grid = ["cdiv(M, 64)"]
// block = [64]
//
// [[launch]]
// kernel = "columns_of"
// args = ["in", "cols", "parts", "done", "M", "N"]
// grid = ["cdiv(M, 16)"]
// block = [256]
// zero = ["done"]
// ///

extern "C" __global__ void rows_of(const float* in, float* rows, int M, int N)
{
    const int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= M) return;
    float sum = 0.0f;
    for (int column = 0; column < N; ++column) sum += in[size_t(row) * N + column];
    rows[row] = sum;
}

extern "C" __global__ void columns_of(const float* in, float* cols, float* parts, unsigned* done, int M, int N)
{
    __shared__ bool last;
    for (int column = threadIdx.x; column < N; column += 256) {
        float sum = 0.0f;
        for (int row = blockIdx.x * 16; row < min(M, int(blockIdx.x + 1) * 16); ++row) sum += in[size_t(row) * N + column];
        parts[size_t(blockIdx.x) * N + column] = sum;
    }
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    for (int column = threadIdx.x; column < N; column += 256) {
        float sum = 0.0f;
        for (int band = 0; band < gridDim.x; ++band) sum += __ldcg(&parts[size_t(band) * N + column]);
        cols[column] = sum;
    }
}
