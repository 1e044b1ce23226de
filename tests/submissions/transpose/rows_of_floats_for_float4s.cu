// The index of float4s counts rows in floats.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(cdiv(N, 4), BX)", "cdiv(M, BY)"]
// block = ["BX", "BY"]
// ///

constexpr int BX = 8;
constexpr int BY = 32;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int row = blockIdx.y * BY + threadIdx.y;
    const int pack = blockIdx.x * BX + threadIdx.x;
    const int col = pack * 4;
    if (row >= M || col >= N) return;

    float e[4] = {0, 0, 0, 0};
    if (N % 4 == 0) {
        const float4* in4 = reinterpret_cast<const float4*>(in);
        const float4 v = in4[(size_t)row * N + pack];
        e[0] = v.x; e[1] = v.y; e[2] = v.z; e[3] = v.w;
    } else {
        for (int k = 0; k < 4; ++k)
            if (col + k < N) e[k] = in[(size_t)row * N + col + k];
    }
    for (int k = 0; k < 4; ++k)
        if (col + k < N) out[(size_t)(col + k) * M + row] = e[k];
}
