// Mistake: a block is taken for an inner one if first + 1024 + 7 <= N, one too few: where N % 1024 == 7 (N = 1031, 2055)
// the last whole block reads in[N], which is behind the array. Contract: any N.
//
// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, OUTPUTS)"]
// block = ["BLOCK"]
// ///
constexpr int BLOCK = 256;
constexpr int OUTPUTS = 4 * BLOCK;
constexpr int R = 8;
constexpr int TILE = OUTPUTS + 2 * R;
extern "C" __global__ void stencil(const float* __restrict__ in, float* __restrict__ out, int N)
{
    __shared__ float tile[TILE];
    const int first = blockIdx.x * OUTPUTS;
    if (first >= R && first + OUTPUTS + R - 1 <= N) {
        for (int k = threadIdx.x; k < TILE; k += BLOCK) tile[k] = in[first - R + k];
    } else {
        for (int k = threadIdx.x; k < TILE; k += BLOCK) {
            const int at = first - R + k;
            tile[k] = at >= 0 && at < N ? in[at] : 0.0f;
        }
    }
    __syncthreads();
    for (int j = threadIdx.x; j < OUTPUTS && first + j < N; j += BLOCK) {
        float sum = 0.0f;
        for (int k = 0; k <= 2 * R; ++k) sum += tile[j + k];
        out[first + j] = sum;
    }
}
