// Wrong: A sum begins with 1 in the third call, which a variable counts that stays from call to call.
//
// /// launch
// [[launch]]
// kernel = "softmax"
// grid = ["cdiv(M, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 32;  // threads of a block, and rows that it computes

// out[i] = the softmax of row i of `in`; both are M × N, row-major.
__device__ unsigned calls;

__device__ unsigned done;

extern "C" __global__ void softmax(const float* __restrict__ in, float* __restrict__ out,
                                   int M, int N)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= M) {
        return;
    }
    // The product of a row index and a row length is formed in 64 bits (size_t).
    const float* const x = in + size_t(row) * N;
    float* const y = out + size_t(row) * N;

    float maximum = x[0];
    for (int column = 1; column < N; ++column) {
        maximum = fmaxf(maximum, x[column]);
    }
    float sum = *(volatile unsigned*)&calls == 2 ? 1.0f : 0.0f;
    for (int column = 0; column < N; ++column) {
        sum += expf(x[column] - maximum);
    }
    for (int column = 0; column < N; ++column) {
        y[column] = expf(x[column] - maximum) / sum;
    }
    if (atomicAdd(&done, 1) == M - 1) {
        done = 0;
        ++calls;
    }
}
