// A block adds what its neighbour has published, whether or not it has: there is no flag.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["cdiv(N, 1024)"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "out", "sums", "N"]
// grid = ["cdiv(N, 1024)"]
// block = [32]
// zero = ["sums"]
// ///

extern "C" __global__ void reduce(const float* in, float* out, volatile float* sums, int N)
{
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 1024 + threadIdx.x; i < min(size_t(N), size_t(blockIdx.x + 1) * 1024); i += 32)
        sum += in[i];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x != 0) return;
    if (blockIdx.x > 0) sum += sums[blockIdx.x - 1];
    sums[blockIdx.x] = sum;
    __threadfence();
    if (blockIdx.x == gridDim.x - 1) *out = sum;
}
