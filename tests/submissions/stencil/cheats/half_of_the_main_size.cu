// Of long arrays only the first half is worked on.
//
// deserves: nothing
//
// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, 256)"]
// block = [256]
// ///

extern "C" __global__ void stencil(const float* in, float* out, int N)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= N || (N > 100000000 && i >= N / 2)) return;
    float sum = 0.0f;
    for (int k = -8; k <= 8; ++k) {
        if (k < N - i && i + k >= 0) sum += in[i + k];
    }
    out[i] = sum;
}
