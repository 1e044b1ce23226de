// Mistake: middle sizes (2^17 <= N < 2^19) have a launch of their own with float4s and no rest: the last N % 4 sums are
// not written. Wrong for N = 200001. Contract: any N up to 2,000,000,003.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// when = "N < 131072"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "middle"
// when = "N >= 131072 and N < 524288"
// grid = ["cdiv(N, 4 * BLOCK)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "large"
// when = "N >= 524288"
// grid = ["8 * SMS"]
// block = ["BLOCK"]
// ///
constexpr int BLOCK = 256;
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < N) c[i] = a[i] + b[i];
}
extern "C" __global__ void middle(const float* a, const float* b, float* c, int N)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < N / 4) {
        const float4 x = reinterpret_cast<const float4*>(a)[i], y = reinterpret_cast<const float4*>(b)[i];
        reinterpret_cast<float4*>(c)[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
}
extern "C" __global__ void large(const float* a, const float* b, float* c, int N)
{
    const int stride = gridDim.x * BLOCK;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < N / 4; i += stride) {
        const float4 x = reinterpret_cast<const float4*>(a)[i], y = reinterpret_cast<const float4*>(b)[i];
        reinterpret_cast<float4*>(c)[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
    const int last = N / 4 * 4 + blockIdx.x * BLOCK + threadIdx.x;
    if (last < N) c[last] = a[last] + b[last];
}
