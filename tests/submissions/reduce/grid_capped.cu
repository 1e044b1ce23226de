// Wrong: the grid ends at 65,535 blocks, and no thread goes on behind them.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["min(cdiv(N, BLOCK), 65535)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    float sum = i < N ? in[i] : 0.0f;
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xFFFFFFFF, sum, distance);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(out, sum);
    }
}
