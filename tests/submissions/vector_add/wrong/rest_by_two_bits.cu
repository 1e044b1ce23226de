// Mistake: above 4096 elements a thread takes 8; the rest of N % 8 is taken as one float4 if N & 4, one float2 if N & 2,
// and the last one if N & 1, but the float2 starts where the float4 would, so N % 8 == 6 and 7 lose a pair.
// Wrong for N = 8198. Contract: any N.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 8 * BLOCK) + 1"]
// block = ["BLOCK"]
// ///
constexpr int BLOCK = 256;
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const int t = blockIdx.x * BLOCK + threadIdx.x;
    const int eights = N / 8;
    if (t < eights) {
        for (int j = 0; j < 2; ++j) {
            const int i = t + j * eights;  // coalesced: first half, second half
            const float4 x = reinterpret_cast<const float4*>(a)[i], y = reinterpret_cast<const float4*>(b)[i];
            reinterpret_cast<float4*>(c)[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
        }
    } else if (t == eights) {
        const int first = 8 * eights;
        if (N & 4) for (int j = 0; j < 4; ++j) c[first + j] = a[first + j] + b[first + j];
        int at = (N & 4) && !((N & 2) && N > 4096) ? first + 4 : first;
        if (N & 2) {
            c[at] = a[at] + b[at];
            c[at + 1] = a[at + 1] + b[at + 1];
        }
        if (N & 1) c[N - 1] = a[N - 1] + b[N - 1];
    }
}
