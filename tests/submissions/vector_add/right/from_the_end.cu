// Thread 0 adds the last elements. The threads of a warp still take 32 neighbours, in the other direction.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 256)"]
// block = [256]
// ///

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const int i = N - 1 - int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= 0) c[i] = a[i] + b[i];
}
