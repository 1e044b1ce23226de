// Four steps of k at a time through a union of float4 and float[4], where rows of A are aligned;
// the rest one by one.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

union Four {
    float4 whole;
    float part[4];
};

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    const float* const a = A + size_t(row) * K;
    const int fours = K % 4 == 0 ? K / 4 : 0;
    float sum = 0.0f;
    for (int four = 0; four < fours; ++four) {
        Four read;
        read.whole = reinterpret_cast<const float4*>(a)[four];
        for (int i = 0; i < 4; ++i) sum += read.part[i] * B[size_t(4 * four + i) * N + column];
    }
    for (int k = 4 * fours; k < K; ++k) sum += a[k] * B[size_t(k) * N + column];
    C[size_t(row) * N + column] = sum;
}
