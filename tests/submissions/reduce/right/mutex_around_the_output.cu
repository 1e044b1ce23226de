// One thread of each block takes a lock with atomicCAS, adds to the output with plain accesses
// between fences, and gives the lock back with atomicExch.
//
// /// launch
// [[scratch]]
// name = "lock"
// dtype = "int32"
// shape = [1]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "out", "lock", "N"]
// grid = ["min(SMS, cdiv(N, 256))"]
// block = [256]
// zero = ["out", "lock"]
// ///

extern "C" __global__ void reduce(const float* in, volatile float* out, int* lock, int N)
{
    __shared__ float places[256];
    const int t = threadIdx.x;
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 256 + t; i < N; i += size_t(gridDim.x) * 256) sum += in[i];
    places[t] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) places[t] += places[t + half];
        __syncthreads();
    }
    if (t != 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *out = *out + places[0];
    __threadfence();
    atomicExch(lock, 0);
}
