// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 4 * BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const float4* a4 = reinterpret_cast<const float4*>(a);
    const float4* b4 = reinterpret_cast<const float4*>(b);
    float4* c4 = reinterpret_cast<float4*>(c);

    const size_t quad = size_t(blockIdx.x) * BLOCK + threadIdx.x;
    if (quad < N / 4) {
        const float4 x = a4[quad];
        const float4 y = b4[quad];
        c4[quad] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
    // N % 4 elements are left.
    if (blockIdx.x == 0 && threadIdx.x < N % 4) {  //!
        const size_t i = N - threadIdx.x;  //!
        c[i] = a[i] + b[i];  //!
    }
}
