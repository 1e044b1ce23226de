// One thread adds everything in single precision, one after the other: an honest sum, if a long
// one.
//
// deserves: 00_naive
// unless: too many additions
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = [1]
// block = [1]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    float sum = 0.0f;
    for (int i = 0; i < N; ++i) sum += in[i];
    *out = sum;
}
