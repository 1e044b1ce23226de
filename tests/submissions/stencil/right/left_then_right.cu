// Two launches: the second one adds the right half of a sum to the left half, which the first one left in the output.
//
// /// launch
// [[launch]]
// kernel = "half_of_it"
// args = ["in", "out", "N", "-8", "-1"]
// grid = ["cdiv(N, 256)"]
// block = [256]
//
// [[launch]]
// kernel = "half_of_it"
// args = ["in", "out", "N", "0", "8"]
// grid = ["cdiv(N, 256)"]
// block = [256]
// ///

extern "C" __global__ void half_of_it(const float* in, float* out, int N, int first, int last)
{
    const long long i = blockIdx.x * 256LL + threadIdx.x;
    if (i >= N) {
        return;
    }
    float sum = first < 0 ? 0.0f : out[i];
    for (int k = first; k <= last; ++k) {
        sum += i + k >= 0 && i + k < N ? in[i + k] : 0.0f;
    }
    out[i] = sum;
}
