// The last block writes the row, but a block's pair may still be under way when it counts itself as done: there is
// no fence before the atomic.
//
// /// launch
// [[scratch]]
// name = "pairs"
// dtype = "float32"
// shape = ["M", 4, 2]
//
// [[scratch]]
// name = "done"
// dtype = "uint32"
// shape = ["M"]
//
// [[launch]]
// kernel = "softmax"
// args = ["in", "pairs", "done", "out", "M", "N"]
// grid = ["M", 4]
// block = [32]
// zero = ["done"]
// ///

extern "C" __global__ void softmax(const float* in, float* pairs, unsigned* done, float* out, int M, int N)
{
    const float* const x = in + size_t(blockIdx.x) * N;
    float* const y = out + size_t(blockIdx.x) * N;
    float own = -3.402823466e38f, sum = 0.0f;
    for (int column = blockIdx.y * 32 + threadIdx.x; column < N; column += 128) own = fmaxf(own, x[column]);
    for (int d = 16; d > 0; d /= 2) own = fmaxf(own, __shfl_xor_sync(~0u, own, d));
    for (int column = blockIdx.y * 32 + threadIdx.x; column < N; column += 128) sum += expf(x[column] - own);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);

    float* const of_row = pairs + 8 * size_t(blockIdx.x);
    unsigned before = 0;
    if (threadIdx.x == 0) {
        of_row[2 * blockIdx.y] = own;
        of_row[2 * blockIdx.y + 1] = sum;
        before = atomicAdd(&done[blockIdx.x], 1u);
    }
    if (__shfl_sync(~0u, before, 0) != 3) return;
    __threadfence();
    float maximum = own;
    for (int part = 0; part < 4; ++part) maximum = fmaxf(maximum, __ldcg(&of_row[2 * part]));
    sum = 0.0f;
    for (int part = 0; part < 4; ++part) {
        sum += __ldcg(&of_row[2 * part + 1]) * expf(__ldcg(&of_row[2 * part]) - maximum);
    }
    for (int column = threadIdx.x; column < N; column += 32) y[column] = expf(x[column] - maximum) / sum;
}
