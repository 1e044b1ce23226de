// Each warp stores its sum to the place of its lane, and not to its own.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    __shared__ float partial[BLOCK / 32];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float v = i < N ? in[i] : 0.0f;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;

    for (int offset = 16; offset > 0; offset /= 2) {
        v += __shfl_down_sync(0xffffffff, v, offset);
    }
    if (lane == 0) {
        partial[lane] = v;
    }
    __syncthreads();

    if (warp == 0) {
        v = lane < BLOCK / 32 ? partial[lane] : 0.0f;
        for (int offset = 4; offset > 0; offset /= 2) {
            v += __shfl_down_sync(0xffffffff, v, offset);
        }
        if (lane == 0) {
            atomicAdd(out, v);
        }
    }
}
