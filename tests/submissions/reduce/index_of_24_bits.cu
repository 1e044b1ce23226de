// Wrong: __umul24 multiplies numbers of 24 bits, and the index is cut to as many.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    const unsigned i = (__umul24(blockIdx.x, BLOCK) + threadIdx.x) & 0xFFFFFF;
    float sum = size_t(blockIdx.x) * BLOCK + threadIdx.x < N ? in[i] : 0.0f;
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xFFFFFFFF, sum, distance);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(out, sum);
    }
}
