// A block takes a row. Its threads stand side by side and walk along the row together; their maxima,
// and later their sums, go through a tree in shared memory.
//
// What it should buy: neighbouring threads read and write neighbours, four sectors a request where
// there were 32. And there are 256 threads a row, enough to fill the GPU. The row is still read three
// times, but the second and third time it comes from the L2 cache as long as the rows that are under
// way at a time fit into it.
//
// /// launch
// [[launch]]
// kernel = "softmax"
// grid = ["M"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;  // threads of a block: a power of two

// Every thread of the block gets the largest of all `value`s. `values` has room for BLOCK floats.
__device__ float block_maximum(float value, float* values)
{
    values[threadIdx.x] = value;
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        __syncthreads();  // the maxima of the step before are there
        if (threadIdx.x < distance) {
            values[threadIdx.x] = fmaxf(values[threadIdx.x], values[threadIdx.x + distance]);
        }
    }
    __syncthreads();  // the last one is
    const float largest = values[0];
    __syncthreads();  // and all have read it: the array may be used again
    return largest;
}

// Every thread of the block gets the sum of all `value`s.
__device__ float block_sum(float value, float* values)
{
    values[threadIdx.x] = value;
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        __syncthreads();  // the sums of the step before are there
        if (threadIdx.x < distance) {
            values[threadIdx.x] += values[threadIdx.x + distance];
        }
    }
    __syncthreads();  // the last one is
    return values[0];
}

// out[i] = the softmax of row i of `in`; both are M × N, row-major.
extern "C" __global__ void __launch_bounds__(BLOCK)
softmax(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ float values[BLOCK];
    const float* const x = in + size_t(blockIdx.x) * N;
    float* const y = out + size_t(blockIdx.x) * N;

    float maximum = -INFINITY;  // of this thread's elements, then of the row
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        maximum = fmaxf(maximum, x[column]);
    }
    maximum = block_maximum(maximum, values);

    float sum = 0.0f;
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        sum += expf(x[column] - maximum);
    }
    sum = block_sum(sum, values);

    const float scale = 1.0f / sum;  // a division takes as long as many multiplications
    for (int column = threadIdx.x; column < N; column += BLOCK) {
        y[column] = expf(x[column] - maximum) * scale;
    }
}
