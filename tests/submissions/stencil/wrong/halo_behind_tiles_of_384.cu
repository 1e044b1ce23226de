// Mistake: 128 threads with three outputs each. All blocks but the last one load their right halo without a guard; where
// the last block has fewer than 8 elements (N % 384 from 1 to 7), the one before reads behind the end of `in`. The
// contract: any N.
//
// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, 384)"]
// block = [128]
// ///
constexpr int R = 8;
extern "C" __global__ void stencil(const float* __restrict__ in, float* __restrict__ out, int N)
{
    __shared__ float tile[384 + 2 * R];
    const long long first = (long long)blockIdx.x * 384 - R;
    const bool inside = blockIdx.x > 0 && blockIdx.x < gridDim.x - 1;
    for (int k = threadIdx.x; k < 384 + 2 * R; k += 128) {
        const long long i = first + k;
        tile[k] = inside || (i >= 0 && i < N) ? in[i] : 0.0f;
    }
    __syncthreads();
    for (int j = 0; j < 3; ++j) {
        const int k = threadIdx.x + 128 * j;
        float sum = 0.0f;
        for (int o = 0; o <= 2 * R; ++o) sum += tile[k + o];
        const long long i = first + R + k;
        if (i < N) out[i] = sum;
    }
}
