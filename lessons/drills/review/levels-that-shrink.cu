// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 128;

extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    __shared__ float part[BLOCK];
    const int t = threadIdx.x;
    const size_t i = size_t(blockIdx.x) * BLOCK + t;

    part[t] = i < N ? in[i] : 0.0f;
    __syncthreads();

    for (int stride = BLOCK / 2; stride > 0; stride >>= 1) {
        if (t < stride) {  //!
            part[t] += part[t + stride];
            __syncthreads();  //!
        }
    }

    if (t == 0) {
        atomicAdd(out, part[0]);
    }
}
