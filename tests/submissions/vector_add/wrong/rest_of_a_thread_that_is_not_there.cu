// The last elements that are no four are a thread's that is not there where the others fill whole blocks of 192.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(max(N // 4, 1), BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 192;
extern "C" __global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int N)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const int fours = N / 4;
    if (i < fours) {
        const float4 x = reinterpret_cast<const float4*>(a)[i], y = reinterpret_cast<const float4*>(b)[i];
        reinterpret_cast<float4*>(c)[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    } else if (i == fours) {  // the thread behind the last float4 takes the rest
        for (int j = 4 * fours; j < N; ++j) c[j] = a[j] + b[j];
    }
}
