// In a kernel whose blocks wait for each other, thread 0 adds a thousand numbers by itself before
// the barrier at which all other threads of its block stand.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["cdiv(N, 1000)"]
//
// [[scratch]]
// name = "done"
// dtype = "uint32"
// shape = [1]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "done", "out", "N"]
// grid = ["cdiv(N, 1000)"]
// block = [64]
// zero = ["done"]
// ///

extern "C" __global__ void reduce(const float* in, volatile float* sums, volatile unsigned* done, float* out, int N)
{
    __shared__ float own;
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        const size_t first = size_t(blockIdx.x) * 1000;
        for (size_t i = first; i < min(size_t(N), first + 1000); ++i) sum += in[i];
        own = sum;
    }
    __syncthreads();
    if (threadIdx.x == 63) {
        sums[blockIdx.x] = own;
        __threadfence();
        atomicAdd((unsigned*)done, 1u);
    }
    if (blockIdx.x != gridDim.x - 1) return;
    if (threadIdx.x == 0)
        while (*done < gridDim.x) {
        }
    __syncthreads();
    __threadfence();
    float sum = 0.0f;
    for (int block = threadIdx.x; block < gridDim.x; block += 64) sum += sums[block];
    __shared__ float parts[64];
    parts[threadIdx.x] = sum;
    for (int half = 32; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    }
    if (threadIdx.x == 0) *out = parts[0];
}
