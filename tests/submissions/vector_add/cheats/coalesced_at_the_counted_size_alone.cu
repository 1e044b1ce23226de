// Where claims are counted neighbours take neighbours, and elsewhere a thread takes a run of 32.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// when = "N == 4194304"
// grid = ["cdiv(N, 256)"]
// block = [256]
//
// [[launch]]
// kernel = "runs"
// when = "N != 4194304"
// grid = ["cdiv(N, 256 * 32)"]
// block = [256]
// ///

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) c[i] = a[i] + b[i];
}

extern "C" __global__ void runs(const float* a, const float* b, float* c, int N)
{
    const long long first = (long long)(blockIdx.x * blockDim.x + threadIdx.x) * 32;
    for (long long i = first; i < first + 32; ++i) {
        if (i < N) c[i] = a[i] + b[i];
    }
}
