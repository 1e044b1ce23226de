// The matrix is transposed into scratch memory, so that one kernel adds up rows of either.
//
// /// launch
// [[scratch]]
// name = "turned"
// dtype = "float32"
// shape = ["N", "M"]
//
// [[launch]]
// kernel = "turn"
// args = ["in", "turned", "M", "N"]
// grid = ["cdiv(M * N, 256)"]
// block = [256]
//
// [[launch]]
// kernel = "lines"
// args = ["in", "rows", "M", "N"]
// grid = ["cdiv(M, 4)"]
// block = [32, 4]
//
// [[launch]]
// kernel = "lines"
// args = ["turned", "cols", "N", "M"]
// grid = ["cdiv(N, 4)"]
// block = [32, 4]
// ///

extern "C" __global__ void turn(const float* in, float* turned, int M, int N)
{
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    if (i < size_t(M) * N) turned[i % N * M + i / N] = in[i];
}

extern "C" __global__ void lines(const float* matrix, float* sums, int count, int length)
{
    const int line = blockIdx.x * 4 + threadIdx.y;
    if (line >= count) return;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < length; i += 32) sum += matrix[size_t(line) * length + i];
#pragma unroll
    for (int mask = 1; mask < 32; mask <<= 1) sum += __shfl_xor_sync(0xffffffff, sum, mask);
    if (threadIdx.x == 0) sums[line] = sum;
}
