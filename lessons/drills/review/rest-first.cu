// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 4 * BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const size_t t = size_t(blockIdx.x) * BLOCK + threadIdx.x;
    const int head = N % 4;

    if (t < head) {
        c[t] = a[t] + b[t];
    }

    const float4* a4 = reinterpret_cast<const float4*>(a + head);  //!
    const float4* b4 = reinterpret_cast<const float4*>(b + head);  //!
    float4* c4 = reinterpret_cast<float4*>(c + head);  //!
    if (t < N / 4) {
        const float4 x = a4[t];  //!
        const float4 y = b4[t];  //!
        c4[t] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);  //!
    }
}
