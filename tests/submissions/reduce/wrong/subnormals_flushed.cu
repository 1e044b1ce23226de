// Additions flush subnormal numbers to zero. (An atomicAdd of floats in global memory would do so too,
// and is not wrong for it: so does the hardware.)
//
// reason: subnormal
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = [1]
// block = [1024]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    __shared__ float sums[32];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < N; i += 1024) sum += in[i];
    for (int distance = 16; distance > 0; distance /= 2) {
        const float other = __shfl_xor_sync(~0u, sum, distance);
        asm("add.ftz.f32 %0, %0, %1;" : "+f"(sum) : "f"(other));
    }
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int i = 1; i < 32; ++i) sum += sums[i];
    *out = sum;
}
