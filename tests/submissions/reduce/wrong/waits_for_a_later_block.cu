// Block b waits for the sum of block b + 1, by number: blocks that have not started may never
// start.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["cdiv(N, 256) + 1"]
//
// [[scratch]]
// name = "flags"
// dtype = "int32"
// shape = ["cdiv(N, 256) + 1"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "out", "sums", "flags", "N"]
// grid = ["cdiv(N, 256)"]
// block = [32]
// zero = ["sums", "flags"]
// ///

extern "C" __global__ void reduce(const float* in, float* out, volatile float* sums, volatile int* flags, int N)
{
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 256 + threadIdx.x; i < min(size_t(N), size_t(blockIdx.x + 1) * 256); i += 32)
        sum += in[i];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x != 0) return;
    if (blockIdx.x < gridDim.x - 1) {
        while (flags[blockIdx.x + 1] == 0) {
        }
        __threadfence();
        sum += sums[blockIdx.x + 1];
    }
    sums[blockIdx.x] = sum;
    __threadfence();
    flags[blockIdx.x] = 1;
    if (blockIdx.x == 0) *out = sum;
}
