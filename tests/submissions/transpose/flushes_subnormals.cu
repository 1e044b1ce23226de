// The element passes through a multiplication by one that flushes subnormals, as --use_fast_math has it.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, 32)", "cdiv(M, 8)"]
// block = [32, 8]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int column = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 8 + threadIdx.y;
    if (row < M && column < N) {
        float moved;
        asm("mul.ftz.f32 %0, %1, 0f3F800000;" : "=f"(moved) : "f"(in[size_t(row) * N + column]));
        out[size_t(column) * M + row] = moved;
    }
}
