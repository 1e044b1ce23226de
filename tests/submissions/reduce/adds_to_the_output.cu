// Mistake: out does not start at zero, and nothing in the launch block clears it.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    float sum = i < N ? in[i] : 0.0f;
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(out, sum);
    }
}
