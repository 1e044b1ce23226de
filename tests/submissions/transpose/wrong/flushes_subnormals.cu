// A multiplication by one that flushes subnormals to zero.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M * N, 256)"]
// block = [256]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    if (i >= size_t(M) * N) return;
    float value = in[i % M * N + i / M];
    asm("mul.ftz.f32 %0, %0, 0f3F800000;" : "+f"(value));
    out[i] = value;
}
