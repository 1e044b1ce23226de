// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, BLOCK)", "cdiv(M, BLOCK)"]
// block = ["BLOCK", "HEIGHT"]
// ///

constexpr int BLOCK = 32;
constexpr int PITCH = BLOCK + 1;
constexpr int HEIGHT = 8;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float tile[BLOCK * BLOCK];
    const int tx = threadIdx.x;

    for (int ty = threadIdx.y; ty < BLOCK; ty += HEIGHT) {
        const int r = blockIdx.y * BLOCK + ty;
        const int c = blockIdx.x * BLOCK + tx;
        if (r < M && c < N)
            tile[ty * PITCH + tx] = in[(size_t)r * N + c];
    }
    __syncthreads();
    for (int ty = threadIdx.y; ty < BLOCK; ty += HEIGHT) {
        const int r = blockIdx.x * BLOCK + ty;
        const int c = blockIdx.y * BLOCK + tx;
        if (r < N && c < M)
            out[(size_t)r * M + c] = tile[tx * PITCH + ty];
    }
}
