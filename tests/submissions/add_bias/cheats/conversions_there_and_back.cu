// Each sum is made a double and a float again ten times: conversions of 64 bits go 16 a clock, an eighth of an issue slot's rate.
//
// deserves: 01_x_along_rows
//
// /// launch
// [[launch]]
// kernel = "add_bias_fours"
// when = "N % WIDTH == 0"
// grid = ["cdiv(N, BLOCK_X * WIDTH)", "cdiv(M, BLOCK_Y * ROWS)"]
// block = ["BLOCK_X", "BLOCK_Y"]
//
// [[launch]]
// kernel = "add_bias"
// when = "N % WIDTH != 0"
// grid = ["cdiv(N, BLOCK_X)", "cdiv(M, BLOCK_Y * ROWS)"]
// block = ["BLOCK_X", "BLOCK_Y"]
// ///

constexpr int BLOCK_X = 32;  // columns of a block, or float4s of columns
constexpr int BLOCK_Y = 8;   // rows that a block takes at a time, a warp each
constexpr int ROWS = 8;      // rows of a thread
constexpr int WIDTH = 4;     // floats in a float4

__device__ float there_and_back(float x)
{
    #pragma unroll
    for (int i = 0; i < 10; ++i) {
        double d;
        asm volatile("cvt.f64.f32 %0, %1;" : "=d"(d) : "f"(x));
        asm volatile("cvt.rn.f32.f64 %0, %1;" : "=f"(x) : "d"(d));
    }
    return x;
}

// in and out have M rows of N elements, row-major; bias has N elements. N is a multiple of WIDTH.
extern "C" __global__ void add_bias_fours(const float* __restrict__ in,
                                          const float* __restrict__ bias, float* __restrict__ out,
                                          int M, int N)
{
    // The same arrays, seen as arrays of float4s.
    const float4* const in4 = reinterpret_cast<const float4*>(in);
    const float4* const bias4 = reinterpret_cast<const float4*>(bias);
    float4* const out4 = reinterpret_cast<float4*>(out);
    const int across = N / WIDTH;  // float4s in a row

    const int column = blockIdx.x * BLOCK_X + threadIdx.x;  // counted in float4s
    const int first_row = blockIdx.y * (BLOCK_Y * ROWS) + threadIdx.y;
    if (column >= across) {
        return;
    }

    const float4 shift = bias4[column];
    #pragma unroll
    for (int step = 0; step < ROWS; ++step) {
        const int row = first_row + step * BLOCK_Y;
        if (row < M) {
            const size_t i = static_cast<size_t>(row) * across + column;
            const float4 x = in4[i];
            out4[i] = make_float4(there_and_back(x.x + shift.x), there_and_back(x.y + shift.y),
                                  there_and_back(x.z + shift.z), there_and_back(x.w + shift.w));
        }
    }
}

// The same for every N, an element at a time.
extern "C" __global__ void add_bias(const float* __restrict__ in, const float* __restrict__ bias,
                                    float* __restrict__ out, int M, int N)
{
    const int column = blockIdx.x * BLOCK_X + threadIdx.x;
    const int first_row = blockIdx.y * (BLOCK_Y * ROWS) + threadIdx.y;
    if (column >= N) {
        return;
    }

    const float shift = bias[column];
    #pragma unroll
    for (int step = 0; step < ROWS; ++step) {
        const int row = first_row + step * BLOCK_Y;
        if (row < M) {
            const size_t i = static_cast<size_t>(row) * N + column;
            out[i] = in[i] + shift;
        }
    }
}
