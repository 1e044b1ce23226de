// The tile goes through `out` itself: stored by one half of the block, and read back by the other
// with __ldg, which promises that nobody writes there.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M * N, 256)"]
// block = [256]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const size_t first = size_t(blockIdx.x) * 256, i = first + threadIdx.x, count = size_t(M) * N;
    if (i < count) out[i] = in[i % M * N + i / M];
    __syncthreads();
    const size_t mirrored = first + (255 - threadIdx.x);
    const float again = mirrored < count ? __ldg(&out[mirrored]) : 0.0f;
    if (mirrored < count && i >= count) out[mirrored] = again;
    if (mirrored < count && i < count && again != in[mirrored % M * N + mirrored / M]) out[mirrored] = 1.0f;
}
