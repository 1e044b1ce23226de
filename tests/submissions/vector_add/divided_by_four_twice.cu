// The launch block hands over the number of float4s, and the kernel divides by four once more.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 4 * BLOCK)"]
// block = ["BLOCK"]
// args = ["a", "b", "c", "N // 4"]
// ///

constexpr int BLOCK = 128;

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const int fours = N / 4;
    if (i < fours) {
        float4 x = reinterpret_cast<const float4*>(a)[i];
        float4 y = reinterpret_cast<const float4*>(b)[i];
        x.x += y.x;
        x.y += y.y;
        x.z += y.z;
        x.w += y.w;
        reinterpret_cast<float4*>(c)[i] = x;
    }
    if (i < N % 4) {  // what is left
        c[4 * fours + i] = a[4 * fours + i] + b[4 * fours + i];
    }
}
