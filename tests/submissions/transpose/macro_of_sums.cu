// The place of an element is a macro whose parameters have no parentheses.
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(N, 32)", "cdiv(M, 32)"]
// block = [32, 32]
// ///
#define AT(r, c, n) (r * n + c)

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const size_t y = blockIdx.y * 32, x = blockIdx.x * 32, ty = threadIdx.y, tx = threadIdx.x;
    if (y + ty < M && x + tx < N) {
        const float v = in[AT(y + ty, x + tx, N)];
        out[AT(x + tx, y + ty, M)] = v;
    }
}
