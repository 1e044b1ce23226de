// Blocks add their sums in double precision to scratch memory; a second launch rounds.
//
// /// launch
// [[scratch]]
// name = "total"
// dtype = "float64"
// shape = [1]
//
// [[launch]]
// kernel = "add"
// args = ["in", "total", "N"]
// grid = ["min(4 * SMS, cdiv(N, 512))"]
// block = [512]
// zero = ["total"]
//
// [[launch]]
// kernel = "convert"
// args = ["total", "out"]
// grid = [1]
// block = [1]
// ///

extern "C" __global__ void add(const float* in, double* total, int N)
{
    __shared__ double sums[512];
    const int t = threadIdx.x;
    sums[t] = 0.0;
    for (size_t i = size_t(blockIdx.x) * 512 + t; i < N; i += size_t(gridDim.x) * 512) sums[t] += in[i];
    __syncthreads();
    for (int half = 256; half > 0; half >>= 1) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();
    }
    if (t == 0) atomicAdd(total, sums[0]);
}

extern "C" __global__ void convert(const double* total, float* out) { *out = float(*total); }
