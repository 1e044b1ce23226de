// The fence stands behind the counter that announces the sum, and not before it.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["min(2 * SMS, cdiv(N, 256))"]
//
// [[scratch]]
// name = "done"
// dtype = "uint32"
// shape = [1]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "done", "out", "N"]
// grid = ["min(2 * SMS, cdiv(N, 256))"]
// block = [256]
// zero = ["done"]
// ///

extern "C" __global__ void reduce(const float* in, volatile float* sums, unsigned* done, float* out, int N)
{
    __shared__ float places[256];
    const int t = threadIdx.x;
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 256 + t; i < N; i += size_t(gridDim.x) * 256) sum += in[i];
    places[t] = sum;
    __syncthreads();
    if (t != 0) return;
    for (int other = 1; other < 256; ++other) sum += places[other];
    sums[blockIdx.x] = sum;
    const bool last = atomicAdd(done, 1u) == gridDim.x - 1;
    __threadfence();
    if (!last) return;
    sum = 0.0f;
    for (int block = 0; block < gridDim.x; ++block) sum += sums[block];
    *out = sum;
}
