// fminf and fmaxf clip to the range of floats, and give the other operand for a NaN.
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
    if (i < size_t(M) * N) out[i] = fminf(fmaxf(in[i % M * N + i / M], -3.402823466e38f), 3.402823466e38f);
}
