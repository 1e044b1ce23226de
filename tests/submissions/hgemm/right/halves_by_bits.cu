// Halves become floats without a conversion: exponent and mantissa are shifted into place and multiplied by 2^112,
// which makes subnormals right as well; infinities and NaNs, whose exponent is all ones, get theirs by an or.
//
// /// launch
// [[launch]]
// kernel = "product"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

__device__ float number(unsigned short bits)
{
    const unsigned magnitude = (bits & 0x7fffu) << 13, sign = (bits & 0x8000u) << 16;
    const unsigned scaled = __float_as_uint(__uint_as_float(magnitude) * 0x1p112f);
    const unsigned special = (bits & 0x7c00u) == 0x7c00u ? 0x7f800000u | magnitude : scaled;
    return __uint_as_float(sign | special);
}

extern "C" __global__ void product(const unsigned short* A, const unsigned short* B, float* C, int M, int N, int K)
{
    const unsigned across = (unsigned(N) + 31) >> 5;
    const int row = int(blockIdx.x / across << 3) + threadIdx.y, column = int(blockIdx.x % across << 5) | threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum = fmaf(number(A[size_t(row) * K + k]), number(B[size_t(k) * N + column]), sum);
    C[size_t(row) * N + column] = sum;
}
