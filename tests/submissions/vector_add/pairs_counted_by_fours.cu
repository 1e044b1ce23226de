// Two floats at a time, in a guard that counts by four.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 2 * BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;

    const float2* a2 = (const float2*)a;
    const float2* b2 = (const float2*)b;
    float2* c2 = (float2*)c;

    if (i < N / 4) {
        float2 s;
        s.x = a2[i].x + b2[i].x;
        s.y = a2[i].y + b2[i].y;
        c2[i] = s;
    }
    if (i == 0 && N % 2 == 1) {
        c[N - 1] = a[N - 1] + b[N - 1];
    }
}
