// The tile's size is the launch's, not the kernel's.
//
// /// launch
// [[launch]]
// kernel = "stencil"
// shared = "4 * (128 + 16)"
// grid = ["cdiv(N, 128)"]
// block = [128]
// ///

extern "C" __global__ void stencil(const float* in, float* out, int N)
{
    extern __shared__ float tile[];
    const long long first = (long long)blockIdx.x * blockDim.x - 8;
    for (int k = threadIdx.x; k < blockDim.x + 16; k += blockDim.x) {
        tile[k] = first + k >= 0 && first + k < N ? in[first + k] : 0.0f;
    }
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        float sum = 0.0f;
        for (int k = 0; k < 17; ++k) sum += tile[threadIdx.x + k];
        out[i] = sum;
    }
}
