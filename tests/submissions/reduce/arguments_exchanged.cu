// Wrong: the kernel takes the output first, and is passed the input first.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void reduce(float* out, const float* in, int N)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < N) {
        atomicAdd(out, in[i]);
    }
}
