// Mistake: only the lower half of each warp shuffles, with a mask of itself, and takes values from the
// upper half.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// zero = ["out"]
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const int lane = threadIdx.x % 32;
    float value = i < N ? in[i] : 0.0f;
    if (lane < 16) {
        value += __shfl_down_sync(0x0000ffff, value, 16);
        for (int distance = 8; distance > 0; distance /= 2) {
            value += __shfl_down_sync(0x0000ffff, value, distance);
        }
    }
    if (lane == 0) {
        atomicAdd(out, value);
    }
}
