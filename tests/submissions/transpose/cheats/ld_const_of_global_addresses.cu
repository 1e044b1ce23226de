// Reads by ld.const, with addresses that are not in constant memory.
//
// deserves: nothing
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
    float value;
    asm volatile("ld.const.f32 %0, [%1];" : "=f"(value) : "l"(&in[i % M * N + i / M]));
    out[i] = value;
}
