// The flag between blocks is a cuda::atomic_ref: a fetch_add that acquires and releases at device
// scope.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["min(SMS, cdiv(N, 256))"]
//
// [[scratch]]
// name = "done"
// dtype = "uint32"
// shape = [1]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "done", "out", "N"]
// grid = ["min(SMS, cdiv(N, 256))"]
// block = [256]
// zero = ["done"]
// ///

#include <cuda/atomic>

extern "C" __global__ void reduce(const float* in, float* sums, unsigned* done, float* out, int N)
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
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> counter(*done);
    if (counter.fetch_add(1u, cuda::std::memory_order_acq_rel) != gridDim.x - 1) return;
    sum = 0.0f;
    for (int block = 0; block < gridDim.x; ++block) sum += sums[block];
    *out = sum;
}
