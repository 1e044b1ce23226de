// A block brings the elements of 1024 outputs into shared memory. A
// thread computes four neighbouring outputs from a window of 20
// elements in its registers, which it reads there as five float4s.
//
// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, OUTPUTS)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;
constexpr int R = 8;
constexpr int OUTPUTS = 4 * BLOCK;
constexpr int TILE = OUTPUTS + 2 * R;

// out[i] = in[i - R] + … + in[i + R]; beyond either end stand
// zeros.
extern "C" __global__ void stencil(const float* __restrict__ in,
                                   float* __restrict__ out, int N)
{
    __shared__ __align__(16) float tile[TILE];

    const long long first = (long long)blockIdx.x * OUTPUTS;
    #pragma unroll
    for (int k = threadIdx.x; k < TILE; k += BLOCK) {
        const long long place = first - R + k;
        tile[k] = place >= 0 && place < N ? in[place] : 0.0f;
    }
    __syncthreads();

    float window[4 + 2 * R];
    #pragma unroll
    for (int k = 0; k < 4 + 2 * R; k += 4) {
        *reinterpret_cast<float4*>(window + k) =
            *reinterpret_cast<float4*>(tile + 4 * threadIdx.x + k);
    }
    float sums[4];
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
        float others = 0.0f;
        #pragma unroll
        for (int k = 3; k <= 2 * R; ++k) {
            others += window[k];
        }
        for (int k = j; k < 3; ++k) {
            others += window[k];
        }
        for (int k = 2 * R + 1; k <= 2 * R + j; ++k) {
            others += window[k];
        }
        sums[j] = others;
    }
    const long long i = first + 4 * threadIdx.x;
    if (i + 4 <= N) {
        *reinterpret_cast<float4*>(out + i) =
            make_float4(sums[0], sums[1], sums[2], sums[3]);
    } else {
        for (int j = 0; i + j < N; ++j) {
            out[i + j] = sums[j];
        }
    }
}
