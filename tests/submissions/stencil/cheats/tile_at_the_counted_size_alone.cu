// Where claims are counted a tile in shared memory, and elsewhere none.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "stencil"
// when = "N == 1048576"
// grid = ["cdiv(N, 256)"]
// block = [256]
//
// [[launch]]
// kernel = "plain"
// when = "N != 1048576"
// grid = ["cdiv(N, 256)"]
// block = [256]
// ///

extern "C" __global__ void stencil(const float* in, float* out, int N)
{
    __shared__ float tile[256 + 16];
    const int first = blockIdx.x * 256 - 8, i = blockIdx.x * 256 + threadIdx.x;
    for (int k = threadIdx.x; k < 272; k += 256) {
        tile[k] = first + k >= 0 && first + k < N ? in[first + k] : 0.0f;
    }
    __syncthreads();
    if (i < N) {
        float sum = 0.0f;
        for (int k = 0; k < 17; ++k) sum += tile[threadIdx.x + k];
        out[i] = sum;
    }
}

extern "C" __global__ void plain(const float* in, float* out, int N)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= N) return;
    float sum = 0.0f;
    for (int k = -8; k <= 8; ++k) {
        if (k < N - i && i + k >= 0) sum += in[i + k];
    }
    out[i] = sum;
}
