// All lanes of a warp store in place of the one that has its sum.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;
constexpr int WARPS = BLOCK / 32;

extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    __shared__ float partial[WARPS];
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const int lane = threadIdx.x & 31;
    const int wid = threadIdx.x >> 5;

    float val = i < N ? in[i] : 0.0f;
    for (int offset = 16; offset > 0; offset >>= 1)
        val += __shfl_down_sync(0xffffffff, val, offset);

    partial[wid] = val;
    __syncthreads();

    if (wid == 0) {
        val = lane < WARPS ? partial[lane] : 0.0f;
        for (int offset = 16; offset > 0; offset >>= 1)
            val += __shfl_down_sync(0xffffffff, val, offset);
        if (lane == 0) atomicAdd(out, val);
    }
}
