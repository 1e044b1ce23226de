// The warps of a block share one square of C and divide k among them, warp w takes k = w, w + 4, …; a lane holds a
// 4 × 8 patch, fetched by a recursive template; the four parts meet in shared memory, pairwise: 0 + 2, 1 + 3, 0 + 1.
//
// /// launch
// [[launch]]
// kernel = "product"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32, 4]
// ///

template <int I>
struct Patch {
    static __device__ void add(float (&sum)[32], const float (&a)[4], const float (&b)[8])
    {
        Patch<I - 1>::add(sum, a, b);
        sum[I - 1] = fmaf(a[(I - 1) / 8], b[(I - 1) % 8], sum[I - 1]);
    }
};
template <>
struct Patch<0> {
    static __device__ void add(float (&)[32], const float (&)[4], const float (&)[8]) {}
};

extern "C" __global__ void product(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float parts[2][32][33];
    const unsigned across = (unsigned(N) + 31) / 32;
    const int lane = threadIdx.x, warp = threadIdx.y;
    const int row = int(blockIdx.x / across) * 32 + lane / 4 * 4, column = int(blockIdx.x % across) * 32 + lane % 4 * 8;
    float sum[32] = {};
    for (int k = warp; k < K; k += 4) {
        float a[4], b[8];
        for (int i = 0; i < 4; ++i) a[i] = row + i < M ? A[size_t(row + i) * K + k] : 0.0f;
        for (int j = 0; j < 8; ++j) b[j] = column + j < N ? B[size_t(k) * N + column + j] : 0.0f;
        Patch<32>::add(sum, a, b);
    }
    for (int step = 2; step; step /= 2) {
        if (warp >= step && warp < 2 * step)
            for (int i = 0; i < 32; ++i) parts[warp - step][i][lane] = sum[i];
        __syncthreads();
        if (warp < step)
            for (int i = 0; i < 32; ++i) sum[i] += parts[warp][i][lane];
        __syncthreads();
    }
    if (warp) return;
    for (int i = 0; i < 32; ++i)
        if (row + i / 8 < M && column + i % 8 < N) C[size_t(row + i / 8) * N + column + i % 8] = sum[i];
}
