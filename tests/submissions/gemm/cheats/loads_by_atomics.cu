// A naive product that reads by atomics which change nothing: no load is counted as one.
//
// deserves: 01_coalesced
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8)", "cdiv(N, 32)"]
// block = [32, 8]
// ///

__device__ float loaded(const float* from)
{
    return __int_as_float(atomicOr((int*)from, 0));
}

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int column = blockIdx.y * 32 + threadIdx.x;
    const int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= M || column >= N) {
        return;
    }
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += loaded(&A[size_t(row) * K + k]) * loaded(&B[size_t(k) * N + column]);
    }
    C[size_t(row) * N + column] = sum;
}
