extern "C" __global__ void __maxnreg__(24) sums(const float* __restrict__ in, float* __restrict__ out)
{
    float v[24];
    #pragma unroll
    for (int k = 0; k < 24; ++k) {
        v[k] = in[k * 1024 + threadIdx.x];
    }
    __syncthreads();
    float sum = 0.0f;
    #pragma unroll
    for (int k = 23; k >= 0; --k) {
        sum = sum * v[k] + v[23 - k];
    }
    out[threadIdx.x] = sum;
}
