// Blocks leave parts of the column sums; for each strip of columns a counter tells the block that
// comes last, and that one adds the parts. Rows are whole in a block.
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
// shape = ["cdiv(N, 256)"]
//
// [[launch]]
// kernel = "reduce2d"
// args = ["in", "rows", "cols", "parts", "done", "M", "N"]
// grid = ["cdiv(M, 16)"]
// block = [256]
// zero = ["done"]
// ///

extern "C" __global__ void reduce2d(const float* in, float* rows, float* cols, float* parts, unsigned* done,
                                    int M, int N)
{
    __shared__ float sums[8];
    __shared__ bool last;
    const int t = threadIdx.x, top = blockIdx.x * 16;
    for (int row = top; row < min(M, top + 16); ++row) {
        float sum = 0.0f;
        for (int column = t; column < N; column += 256) sum += in[size_t(row) * N + column];
        for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
        if (t % 32 == 0) sums[t / 32] = sum;
        __syncthreads();
        if (t == 0) {
            for (int warp = 1; warp < 8; ++warp) sum += sums[warp];
            rows[row] = sum;
        }
        __syncthreads();
    }
    for (int left = 0; left < N; left += 256) {
        const int column = left + t;
        if (column < N) {
            float sum = 0.0f;
            for (int row = top; row < min(M, top + 16); ++row) sum += in[size_t(row) * N + column];
            parts[size_t(blockIdx.x) * N + column] = sum;
        }
        __threadfence();
        __syncthreads();
        if (t == 0) last = atomicAdd(&done[left / 256], 1u) == gridDim.x - 1;
        __syncthreads();
        if (last && column < N) {
            __threadfence();
            float sum = 0.0f;
            for (int band = 0; band < gridDim.x; ++band) sum += __ldcg(&parts[size_t(band) * N + column]);
            cols[column] = sum;
        }
    }
}
