// Elements go through double and back, which keeps every number but not every bit of a NaN.
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
    double wide;
    asm volatile("cvt.f64.f32 %0, %1;" : "=d"(wide) : "f"(in[i % M * N + i / M]));
    float narrow;
    asm volatile("cvt.rn.f32.f64 %0, %1;" : "=f"(narrow) : "d"(wide));
    out[i] = isnan(narrow) ? __int_as_float(0x7fffffff) : narrow;
}
