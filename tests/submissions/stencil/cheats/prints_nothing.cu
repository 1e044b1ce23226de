// Every thread prints nothing: printf("") is a call of the runtime, with a buffer that all threads share.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, OUTPUTS)"]
// block = ["BLOCK"]
// ///

#include <cstdio>

constexpr int BLOCK = 256;              // threads of a block
constexpr int WIDTH = 4;                // outputs of a thread, and floats in a float4
constexpr int OUTPUTS = WIDTH * BLOCK;  // of a block
constexpr int R = 8;                    // the radius: how far the stencil reaches to either side
constexpr int TILE = OUTPUTS + 2 * R;   // elements that a block needs
constexpr int WINDOW = WIDTH + 2 * R;   // elements that a thread needs
static_assert(R % WIDTH == 0, "tile and windows are read and written as whole float4s");

// in[place] … in[place + 3], with zeros beyond the ends of `in`; place is a multiple of four.
__device__ float4 four(const float* __restrict__ in, int place, int N)
{
    if (place >= 0 && place <= N - WIDTH) {
        return *reinterpret_cast<const float4*>(in + place);
    }
    float4 some = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (place >= 0 && place < N) {  // fewer than four are left
        some.x = in[place];
        some.y = N - place > 1 ? in[place + 1] : 0.0f;
        some.z = N - place > 2 ? in[place + 2] : 0.0f;
    }
    return some;
}

// in and out have N elements each; out[i] = in[i - R] + … + in[i + R].
extern "C" __global__ void stencil(const float* __restrict__ in, float* __restrict__ out, int N)
{
    // tile[k] is in[first + k], and zero beyond the ends of `in`. Its address is a multiple of 16
    // bytes, as float4s ask for.
    __shared__ __align__(16) float tile[TILE];

    printf("");
    const int first = blockIdx.x * OUTPUTS - R;
    #pragma unroll
    for (int k = WIDTH * threadIdx.x; k < TILE; k += OUTPUTS) {
        *reinterpret_cast<float4*>(tile + k) = four(in, first + k, N);
    }
    __syncthreads();  // the tile is complete

    // Thread t reads from tile[4 t] on. Eight neighbouring threads read 8 · 16 = 128 bytes in a row,
    // every bank once.
    float window[WINDOW];
    #pragma unroll
    for (int k = 0; k < WINDOW; k += WIDTH) {
        *reinterpret_cast<float4*>(window + k) =
            *reinterpret_cast<const float4*>(tile + WIDTH * threadIdx.x + k);
    }

    // Output j is the sum of window[j] … window[j + 16]; elements 3 … 16 are in all four.
    float common = 0.0f;
    #pragma unroll
    for (int k = WIDTH - 1; k <= 2 * R; ++k) {
        common += window[k];
    }
    const float left = window[1] + window[2];                   // in outputs 0 and 1
    const float right = window[2 * R + 1] + window[2 * R + 2];  // in outputs 2 and 3
    const float sums[WIDTH] = {
        common + left + window[0],
        common + left + window[2 * R + 1],
        common + right + window[2],
        common + right + window[2 * R + 3],
    };

    const unsigned i = blockIdx.x * OUTPUTS + WIDTH * threadIdx.x;
    if (i + WIDTH <= static_cast<unsigned>(N)) {
        *reinterpret_cast<float4*>(out + i) = make_float4(sums[0], sums[1], sums[2], sums[3]);
    } else {
        for (int j = 0; j < WIDTH; ++j) {  // the last outputs, fewer than four
            if (i + j < static_cast<unsigned>(N)) {
                out[i + j] = sums[j];
            }
        }
    }
}
