// Mistake: a block takes three float4s a thread; the rest of less than 3072 is added by one block, two float4s a thread and
// then single elements of the last one: lost where N % 3072 > 2051 (e.g. N = 2560). The contract: any N.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["N // 3072 + 1"]
// block = [256]
// ///
__device__ void four(const float* a, const float* b, float* c, size_t i)
{
    const float4 p = *reinterpret_cast<const float4*>(a + i), q = *reinterpret_cast<const float4*>(b + i);
    *reinterpret_cast<float4*>(c + i) = make_float4(p.x + q.x, p.y + q.y, p.z + q.z, p.w + q.w);
}
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const size_t first = size_t(blockIdx.x) * 3072;
    if (blockIdx.x < gridDim.x - 1) {
        for (int i = 0; i < 3; ++i) four(a, b, c, first + 4 * (threadIdx.x + 256 * i));
        return;
    }
    for (int i = 0; i < 2; ++i) {
        const size_t at = first + 4 * (threadIdx.x + 256 * i);
        if (at + 4 <= N) four(a, b, c, at);
    }
    const size_t single = N / 4 * 4 + size_t(threadIdx.x);
    if (single < N) c[single] = a[single] + b[single];
}
