// Generic lambdas, one of them handed to a template: closures are structs to the compiler.
//
// /// launch
// [[launch]]
// kernel = "gemm"
// grid = ["cdiv(M, 16) * cdiv(N, 16)"]
// block = [16, 16]
// ///

template <class Body>
__device__ void for_each(int count, Body body)
{
    for (int i = 0; i < count; ++i) body(i);
}

extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    const auto at = [](auto* matrix, int pitch) {
        return [=](auto row, auto column) -> auto& { return matrix[size_t(row) * pitch + column]; };
    };
    const int across = (N + 15) / 16;
    const int row = blockIdx.x / across * 16 + threadIdx.y, column = blockIdx.x % across * 16 + threadIdx.x;
    if (row >= M || column >= N) return;
    const auto a = at(A, K), b = at(B, N);
    float sum = 0.0f;
    for_each(K, [&](auto k) { sum += a(row, k) * b(k, column); });
    at(C, N)(row, column) = sum;
}
