// No more blocks than multiprocessors, so that all run at a time; they meet at a barrier of their
// own making, a counter on which thread 0 of each block spins. Then block 0 adds up.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["SMS"]
//
// [[scratch]]
// name = "arrived"
// dtype = "uint32"
// shape = [1]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "arrived", "out", "N"]
// grid = ["min(SMS, cdiv(N, 256))"]
// block = [256]
// zero = ["arrived"]
// ///

extern "C" __global__ void reduce(const float* in, float* sums, unsigned* arrived, float* out, int N)
{
    __shared__ float places[256];
    const int t = threadIdx.x;
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 256 + t; i < N; i += size_t(gridDim.x) * 256) sum += in[i];
    places[t] = sum;
    __syncthreads();
    if (t == 0) {
        for (int other = 1; other < 256; ++other) sum += places[other];
        sums[blockIdx.x] = sum;
        __threadfence();
        atomicAdd(arrived, 1u);
        while (*(volatile unsigned*)arrived < gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
    if (blockIdx.x != 0 || t != 0) return;
    sum = 0.0f;
    for (int block = 0; block < gridDim.x; ++block) sum += __ldcg(&sums[block]);
    *out = sum;
}
