// Wrong: every warp of the one block adds its sum to the output with +=, at the same time as the other warps.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = [1]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < N; i += BLOCK) {
        sum += in[i];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xFFFFFFFF, sum, distance);
    }
    if (threadIdx.x % 32 == 0) {
        *out += sum;
    }
}
