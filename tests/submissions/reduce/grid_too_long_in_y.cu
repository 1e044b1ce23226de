// Wrong: the blocks are counted in y, where a grid has at most 65535, so that large arrays cannot be added up.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = [1, "cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    const int i = blockIdx.y * BLOCK + threadIdx.x;
    float sum = i < N ? in[i] : 0.0f;
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xFFFFFFFF, sum, distance);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(out, sum);
    }
}
