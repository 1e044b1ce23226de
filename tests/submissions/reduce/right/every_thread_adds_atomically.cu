// Every number is added to the output by an atomic of its own, in the order in which they come.
//
// deserves: 00_naive
// unless: too many additions
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["cdiv(N, 256)"]
// block = [256]
// zero = ["out"]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    if (i < N) atomicAdd(out, in[i]);
}
