// Reads are atomics that add zero, so that no load instruction is counted.
//
// deserves: nothing
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 256)"]
// block = [256]
// ///

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) c[i] = atomicAdd(const_cast<float*>(a) + i, 0.0f) + atomicAdd(const_cast<float*>(b) + i, 0.0f);
}
