// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;
constexpr int R = 8;

// Zero beyond both ends.
__device__ float element(const float* in, long long i, int N)
{
    return 0 <= i && i < N ? in[i] : 0.0f;
}

extern "C" __global__ void stencil(const float* in, float* out, int N)
{
    __shared__ float tile[R + BLOCK + R];
    const long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    const int place = R + threadIdx.x;

    if (i >= N) {  //!
        return;  //!
    }
    tile[place] = element(in, i, N);
    if (threadIdx.x < R) {
        tile[place - R] = element(in, i - R, N);
    }
    if (threadIdx.x >= BLOCK - R) {
        tile[place + R] = element(in, i + R, N);
    }
    __syncthreads();

    float sum = 0.0f;
    for (int offset = -R; offset <= R; ++offset) {
        sum += tile[place + offset];
    }
    out[i] = sum;
}
