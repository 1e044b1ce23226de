// Wrong: the size is an int of 4 bytes, and the kernel takes 8 in its place.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void reduce(const float* in, float* out, size_t N)
{
    const size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x;
    if (i < N) {
        atomicAdd(out, in[i]);
    }
}
