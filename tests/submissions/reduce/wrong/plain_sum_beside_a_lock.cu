// A lock is taken, and given back before the sum is added.
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
// block = [32]
// zero = ["out", "lock"]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int* lock, int N)
{
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 32 + threadIdx.x; i < N; i += size_t(gridDim.x) * 32) sum += in[i];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x != 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    atomicExch(lock, 0);
    *out += sum;
}
