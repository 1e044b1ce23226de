// The block with the highest number adds the sums of all: it need not be the last to end.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["min(2 * SMS, cdiv(N, 256))"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "out", "N"]
// grid = ["min(2 * SMS, cdiv(N, 256))"]
// block = [256]
// ///

extern "C" __global__ void reduce(const float* in, volatile float* sums, float* out, int N)
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
    __threadfence();
    if (blockIdx.x != gridDim.x - 1) return;
    sum = 0.0f;
    for (int block = 0; block < gridDim.x; ++block) sum += sums[block];
    *out = sum;
}
