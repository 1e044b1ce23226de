// The last steps of the tree are one warp's. Its lower half waits for itself, __syncwarp(0xffff), and reads what the upper
// half has written, which was not asked to wait: the first of these steps is a race.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["min(4 * SMS, cdiv(N, 128))"]
//
// [[launch]]
// kernel = "blocks"
// args = ["in", "sums", "N"]
// grid = ["min(4 * SMS, cdiv(N, 128))"]
// block = [128]
//
// [[launch]]
// kernel = "blocks"
// args = ["sums", "out", "min(4 * SMS, cdiv(N, 128))"]
// grid = [1]
// block = [128]
// ///

extern "C" __global__ void blocks(const float* in, float* out, int count)
{
    __shared__ float s[128];
    const int t = threadIdx.x;
    float own = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 128 + t; i < size_t(count); i += size_t(gridDim.x) * 128) own += in[i];
    s[t] = own;
    __syncthreads();
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) s[t] += s[t + 32];
    if (t >= 16) return;
    for (int d = 16; d; d /= 2) {
        __syncwarp(0xffff);
        const float other = s[t + d];
        __syncwarp(0xffff);
        if (t < d) s[t] += other;
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
