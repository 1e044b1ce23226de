// One thread adds everything in double precision: right, and as slow as can be.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = [1]
// block = [1]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    double sum = 0.0;
    for (int i = 0; i < N; ++i) sum += in[i];
    *out = float(sum);
}
