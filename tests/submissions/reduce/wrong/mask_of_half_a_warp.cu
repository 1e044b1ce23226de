// The last shuffles name the lower half of the warp in their mask, and all lanes take part.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["min(8 * SMS, cdiv(N, 256))"]
// block = [256]
// zero = ["out"]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 256 + threadIdx.x; i < N; i += size_t(gridDim.x) * 256) sum += in[i];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0x0000ffffu, sum, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
