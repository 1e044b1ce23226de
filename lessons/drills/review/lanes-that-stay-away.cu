// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["min(cdiv(N, BLOCK), 4 * SMS)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 128;
constexpr unsigned ALL = 0xffffffff;

extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    const int lane = threadIdx.x % 32;
    const size_t stride = size_t(gridDim.x) * BLOCK;

    float value = 0.0f;
    for (size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x; i < N; i += stride) {
        value += in[i];
    }

    for (int distance = 16; distance > 0; distance /= 2) {
        if (lane < distance) {  //!
            value += __shfl_down_sync(ALL, value, distance);  //!
        }
    }

    if (lane == 0) {
        atomicAdd(out, value);
    }
}
