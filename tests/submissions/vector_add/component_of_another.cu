// The third component is computed from the second: a line that was copied.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(cdiv(N, 4), BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;

__device__ float4 add4(float4 u, float4 v)
{
    float4 w;
    w.x = u.x + v.x;
    w.y = u.y + v.y;
    w.z = u.y + v.z;
    w.w = u.w + v.w;
    return w;
}

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const int t = blockIdx.x * BLOCK + threadIdx.x;
    const int first = t * 4;
    if (first + 3 < N) {
        const float4* a4 = reinterpret_cast<const float4*>(a);
        const float4* b4 = reinterpret_cast<const float4*>(b);
        float4* c4 = reinterpret_cast<float4*>(c);
        c4[t] = add4(a4[t], b4[t]);
    } else {
        for (int i = first; i < N; i++) {
            c[i] = a[i] + b[i];
        }
    }
}
