// Mistake: all threads of the block write the sum that only thread 0 has.
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = [1]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 32;

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < N; i += BLOCK) {
        sum += in[i];
    }
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
    out[threadIdx.x / BLOCK] = sum;
}
