// Wrong: the output is an array of floats, and goes through a pointer to double.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void reduce(const float* in, double* out, int N)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < N) {
        atomicAdd(out, static_cast<double>(in[i]));
    }
}
