// Additions flush subnormal numbers to zero.
//
// reason: subnormal
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["cdiv(N, 256)"]
// block = [256]
// zero = ["out"]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    float sum = i < N ? in[i] : 0.0f;
    for (int distance = 16; distance > 0; distance /= 2) {
        const float other = __shfl_xor_sync(~0u, sum, distance);
        asm("add.ftz.f32 %0, %0, %1;" : "+f"(sum) : "f"(other));
    }
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
