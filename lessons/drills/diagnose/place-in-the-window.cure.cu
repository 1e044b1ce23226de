// A block brings its elements into shared memory. A thread computes
// four neighbouring outputs from the twenty elements of five
// float4s, every thread in the same way.
//
// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, OUTPUTS)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 512;
constexpr int R = 8;
constexpr int OUTPUTS = 4 * BLOCK;
constexpr int TILE = OUTPUTS + 2 * R;

template <int FIRST>
__device__ float seventeen(const float (&window)[20])
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = FIRST; k <= FIRST + 2 * R; ++k) {
        sum += window[k];
    }
    return sum;
}

// out[i] = in[i - R] + … + in[i + R]; beyond either end stand
// zeros.
extern "C" __global__ void stencil(const float* __restrict__ in,
                                   float* __restrict__ out, int N)
{
    __shared__ __align__(16) float tile[TILE];

    const long long first = (long long)blockIdx.x * OUTPUTS;
    for (int k = threadIdx.x; k < TILE; k += BLOCK) {
        const long long place = first - R + k;
        tile[k] = place >= 0 && place < N ? in[place] : 0.0f;
    }
    __syncthreads();

    float window[20];
    #pragma unroll
    for (int k = 0; k < 20; k += 4) {
        *reinterpret_cast<float4*>(window + k) =
            *reinterpret_cast<float4*>(tile + 4 * threadIdx.x + k);
    }
    const float sums[4] = {
        seventeen<0>(window), seventeen<1>(window),
        seventeen<2>(window), seventeen<3>(window)};
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
