// The tile is stored with one pitch and read with another.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, T)", "cdiv(M, T)"]
// block = ["T", "T"]
// ///

constexpr int T = 32;
constexpr int PITCH = T + 1;

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    __shared__ float buf[T * PITCH];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int bx = blockIdx.x * T, by = blockIdx.y * T;

    if (by + ty < M && bx + tx < N)
        buf[ty * PITCH + tx] = in[size_t(by + ty) * N + bx + tx];
    __syncthreads();
    if (bx + ty < N && by + tx < M)
        out[size_t(bx + ty) * M + by + tx] = buf[tx * T + ty];
}
