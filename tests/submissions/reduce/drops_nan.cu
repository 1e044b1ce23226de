// "Bad" numbers are left out of the sum: one that is not a number has to make it so.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["cdiv(N, 256)"]
// block = [256]
// zero = ["out"]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    float value = i < N ? in[i] : 0.0f;
    if (!isfinite(value)) {
        value = 0.0f;
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(out, value);
    }
}
