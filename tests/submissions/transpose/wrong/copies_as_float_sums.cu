// 0 is added to each element on the way: −0 becomes +0.
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
    if (i < size_t(M) * N) out[i] = __fadd_rn(in[i % M * N + i / M], 0.0f);
}
