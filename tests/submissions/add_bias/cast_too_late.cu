// The index is cast to 64 bits when 32 have been formed.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, TX)", "cdiv(M, TY)"]
// block = ["TX", "TY"]
// ///

constexpr int TX = 32;
constexpr int TY = 8;

extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < N && y < M) {
        const size_t pos = (size_t)(y * N + x);
        out[pos] = in[pos] + bias[x];
    }
}
