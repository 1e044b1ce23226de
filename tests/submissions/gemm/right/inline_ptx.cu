// Loads, the multiply-add and the store are written in PTX, with a predicate for the edge.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 8) * cdiv(N, 32)"]
// block = [32, 8]
// ///

__device__ float load(const float* from)
{
    float value;
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(value) : "l"(__cvta_generic_to_global(from)));
    return value;
}

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int across = (N + 31) / 32;
    const int row = blockIdx.x / across * 8 + threadIdx.y, column = blockIdx.x % across * 32 + threadIdx.x;
    const bool inside = row < M && column < N;
    float sum = 0.0f;
    for (int k = 0; inside && k < K; ++k) {
        const float a = load(&A[size_t(row) * K + k]), b = load(&B[size_t(k) * N + column]);
        asm("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum) : "f"(a), "f"(b));
    }
    asm volatile(
        "{ .reg .pred p; setp.ne.s32 p, %2, 0; @p st.global.f32 [%0], %1; }" ::"l"(
            __cvta_generic_to_global(C + (inside ? size_t(row) * N + column : 0))),
        "f"(sum), "r"(int(inside))
        : "memory");
}
