extern "C" __global__ void tile_product(const float* __restrict__ in, float* __restrict__ out)
{
    __shared__ float a[8][32], b[8][64];
    const int t = threadIdx.x;
    a[t / 32][t % 32] = in[t];
    b[t / 64][t % 64] = in[t + 256];
    b[t / 64 + 4][t % 64] = in[t + 512];
    __syncthreads();
    float sum[4] = {};
    #pragma unroll 2
    for (int k = 0; k < 8; ++k) {
        const float above = a[k][t / 16];
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
            sum[j] += above * b[k][t % 16 * 4 + j];
        }
    }
    reinterpret_cast<float4*>(out)[t] = make_float4(sum[0], sum[1], sum[2], sum[3]);
}
