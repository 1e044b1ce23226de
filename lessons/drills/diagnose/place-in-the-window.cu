// A block brings its elements into shared memory. A thread computes
// one output from five float4s; which of their twenty elements it
// needs depends on its place.
//
// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 512;
constexpr int R = 8;
constexpr int TILE = BLOCK + 2 * R;

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

    const long long first = (long long)blockIdx.x * BLOCK;
    for (int k = threadIdx.x; k < TILE; k += BLOCK) {
        const long long place = first - R + k;
        tile[k] = place >= 0 && place < N ? in[place] : 0.0f;
    }
    __syncthreads();

    float window[20];
    #pragma unroll
    for (int k = 0; k < 20; k += 4) {
        *reinterpret_cast<float4*>(window + k) =
            *reinterpret_cast<float4*>(tile + threadIdx.x / 4 * 4 +
                                       k);
    }
    float sum;
    switch (threadIdx.x % 4) {
        case 0: sum = seventeen<0>(window); break;
        case 1: sum = seventeen<1>(window); break;
        case 2: sum = seventeen<2>(window); break;
        default: sum = seventeen<3>(window); break;
    }
    if (first + threadIdx.x < N) {
        out[first + threadIdx.x] = sum;
    }
}
