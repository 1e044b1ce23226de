// Blocks of 96 threads, a tree over places that are no power of two, and sums in double precision until the end.
//
// deserves: 02_tree
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, 192)"]
// block = [96]
// zero = ["out"]
// ///

extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    __shared__ double sums[96];
    const size_t i = size_t(blockIdx.x) * 192 + threadIdx.x;
    sums[threadIdx.x] = (i < N ? double(in[i]) : 0.0) + (i + 96 < N ? double(in[i + 96]) : 0.0);
    for (int left = 96; left > 1;) {
        const int half = (left + 1) / 2;
        __syncthreads();
        if (threadIdx.x + half < left) sums[threadIdx.x] += sums[threadIdx.x + half];
        left = half;
    }
    if (threadIdx.x == 0) atomicAdd(out, float(sums[0]));
}
