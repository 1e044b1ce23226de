// Sums of threads go to scratch memory and are read by __ldg, which promises that the kernel does
// not write there: its cache may have an older value.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["min(4 * SMS, cdiv(N, 256)) * 256"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "out", "N"]
// grid = ["min(4 * SMS, cdiv(N, 256))"]
// block = [256]
// zero = ["out"]
// ///

extern "C" __global__ void reduce(const float* in, float* sums, float* out, int N)
{
    float* const own = sums + size_t(blockIdx.x) * 256;
    const int t = threadIdx.x;
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 256 + t; i < N; i += size_t(gridDim.x) * 256) sum += in[i];
    own[t] = sum;
    __syncthreads();
    if (t >= 32) return;
    sum = 0.0f;
    for (int i = t; i < 256; i += 32) sum += __ldg(&own[i]);
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (t == 0) atomicAdd(out, sum);
}
