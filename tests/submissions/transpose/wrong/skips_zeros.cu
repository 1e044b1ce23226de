// `out` is zeroed in the launch block, and only what is not zero is stored: −0 is equal to 0.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M * N, 256)"]
// block = [256]
// zero = ["out"]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    if (i >= size_t(M) * N) return;
    const float value = in[i % M * N + i / M];
    if (value != 0.0f) out[i] = value;
}
