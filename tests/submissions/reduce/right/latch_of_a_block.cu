// A cuda::latch in shared memory in the place of a barrier: every thread counts down, thread 0
// waits.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["min(SMS, cdiv(N, 128))"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "N"]
// grid = ["min(SMS, cdiv(N, 128))"]
// block = [128]
//
// [[launch]]
// kernel = "reduce"
// args = ["sums", "out", "min(SMS, cdiv(N, 128))"]
// grid = [1]
// block = [128]
// ///

#include <cuda/latch>

using Latch = cuda::latch<cuda::thread_scope_block>;

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    __shared__ float places[128];
    alignas(Latch) __shared__ char storage[sizeof(Latch)];
    Latch& latch = *reinterpret_cast<Latch*>(storage);
    const int t = threadIdx.x;
    if (t == 0) new (storage) Latch(128);
    __syncthreads();
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 128 + t; i < N; i += size_t(gridDim.x) * 128) sum += in[i];
    places[t] = sum;
    latch.count_down();
    if (t != 0) return;
    latch.wait();
    for (int other = 1; other < 128; ++other) sum += places[other];
    out[blockIdx.x] = sum;
}
