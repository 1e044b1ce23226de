// A thread walks along 64 outputs, adds the element that enters and subtracts the one that leaves:
// an infinity or a NaN never leaves.
//
// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, 64 * 64)"]
// block = [64]
// ///

extern "C" __global__ void stencil(const float* in, float* out, int N)
{
    const long long first = ((long long)blockIdx.x * 64 + threadIdx.x) * 64;
    if (first >= N) return;
    float sum = 0.0f;
    for (long long k = first - 8; k <= first + 8; ++k) sum += k >= 0 && k < N ? in[k] : 0.0f;
    for (long long i = first; i < first + 64 && i < N; ++i) {
        out[i] = sum;
        sum += (i + 9 < N ? in[i + 9] : 0.0f) - (i >= 8 ? in[i - 8] : 0.0f);
    }
}
