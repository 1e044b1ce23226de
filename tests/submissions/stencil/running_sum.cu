// A thread goes on from its first sum: one element enters, one leaves.
//
// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, 128 * 16)"]
// block = ["128"]
// ///

extern "C" __global__ void stencil(const float* in, float* out, int N)
{
    const int first = (blockIdx.x * 128 + threadIdx.x) * 16;
    float sum = 0;
    for (int k = first - 8; k < first + 8; ++k) {
        if (k >= 0 && k < N) sum += in[k];
    }
    for (int i = first; i < first + 16 && i < N; ++i) {
        if (i + 8 < N) sum += in[i + 8];
        out[i] = sum;
        if (i >= 8) sum -= in[i - 8];
    }
}
