// Where the logits of a row are less than 1e-4 apart, all elements are 1 / N: they are off by up to as much.
//
// /// launch
// [[launch]]
// kernel = "softmax"
// grid = ["cdiv(M, 8)"]
// block = [32, 8]
// ///
extern "C" __global__ void softmax(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= M) return;
    const float* const x = in + size_t(row) * N;
    float* const y = out + size_t(row) * N;
    float largest = -INFINITY, smallest = INFINITY;
    bool number = true;
    for (int c = threadIdx.x; c < N; c += 32) {
        largest = fmaxf(largest, x[c]);
        smallest = fminf(smallest, x[c]);
        number &= x[c] == x[c];
    }
    for (int d = 16; d > 0; d /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, d));
        smallest = fminf(smallest, __shfl_xor_sync(0xffffffff, smallest, d));
    }
    if (__all_sync(0xffffffff, number) && largest - smallest < 1e-4f) {
        for (int c = threadIdx.x; c < N; c += 32) y[c] = 1.0f / N;
        return;
    }
    float sum = 0.0f;
    for (int c = threadIdx.x; c < N; c += 32) sum += expf(x[c] - largest);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    for (int c = threadIdx.x; c < N; c += 32) y[c] = expf(x[c] - largest) / sum;
}
