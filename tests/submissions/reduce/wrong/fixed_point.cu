// Numbers are added as 64-bit integers in steps of 2⁻²⁰: NaN and infinities have no place there.
//
// /// launch
// [[scratch]]
// name = "total"
// dtype = "int64"
// shape = [1]
//
// [[launch]]
// kernel = "add"
// args = ["in", "total", "N"]
// grid = ["min(8 * SMS, cdiv(N, 256))"]
// block = [256]
// zero = ["total"]
//
// [[launch]]
// kernel = "convert"
// args = ["total", "out"]
// grid = [1]
// block = [1]
// ///

extern "C" __global__ void add(const float* in, unsigned long long* total, int N)
{
    long long sum = 0;
    for (size_t i = size_t(blockIdx.x) * 256 + threadIdx.x; i < N; i += size_t(gridDim.x) * 256)
        sum += llrint(double(in[i]) * 1048576.0);
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(total, (unsigned long long)sum);
}

extern "C" __global__ void convert(const long long* total, float* out) { *out = float(double(*total) / 1048576.0); }
