// Mistake: lanes beyond N stay away, and the mask says so, but the others still take values from them.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// zero = ["out"]
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < N) {
        float value = in[i];
        for (int distance = 16; distance > 0; distance /= 2) {
            value += __shfl_down_sync(__activemask(), value, distance);
        }
        if (threadIdx.x % 32 == 0) {
            atomicAdd(out, value);
        }
    }
}
