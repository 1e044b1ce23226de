// A thread an output: it adds the 17 elements around its own.
//
// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["min(SMS * 8, cdiv(N, BLOCK))"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;
constexpr int R = 8;

// out[i] = in[i - R] + … + in[i + R]; beyond either end stand
// zeros.
extern "C" __global__ void stencil(const float* __restrict__ in,
                                   float* __restrict__ out, int N)
{
    const long long stride = (long long)gridDim.x * BLOCK;
    for (long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
         i < N; i += stride) {
        float sum = 0.0f;
        #pragma unroll
        for (int offset = -R; offset <= R; ++offset) {
            const long long place = i + offset;
            if (place >= 0 && place < N) {
                sum += in[place];
            }
        }
        out[i] = sum;
    }
}
