// CUB's block reduction, with its storage in shared memory, in two launches.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["min(4 * SMS, cdiv(N, 256))"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "N"]
// grid = ["min(4 * SMS, cdiv(N, 256))"]
// block = [256]
//
// [[launch]]
// kernel = "reduce"
// args = ["sums", "out", "min(4 * SMS, cdiv(N, 256))"]
// grid = [1]
// block = [256]
// ///

#include <cub/block/block_reduce.cuh>

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    using BlockReduce = cub::BlockReduce<float, 256>;
    __shared__ typename BlockReduce::TempStorage storage;
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 256 + threadIdx.x; i < N; i += size_t(gridDim.x) * 256) sum += in[i];
    sum = BlockReduce(storage).Sum(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
