// A block of 32 × 8 threads adds the bias to a piece of the matrix
// that is 32 columns wide, 8 rows a thread.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, WIDE)", "cdiv(M, TALL * EACH)"]
// block = ["WIDE", "TALL"]
// ///

constexpr int WIDE = 32;
constexpr int TALL = 8;
constexpr int EACH = 8;  // rows a thread

// out[row][column] = in[row][column] + bias[column]; in and out are
// M × N, row-major.
extern "C" __global__ void add_bias(const float* __restrict__ in,
                                    const float* __restrict__ bias,
                                    float* __restrict__ out, int M,
                                    int N)
{
    const int column = blockIdx.x * WIDE + threadIdx.x;
    const int first = blockIdx.y * (TALL * EACH) + threadIdx.y;
    if (column >= N) {
        return;
    }
    const float shift = bias[column];
    #pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const int row = first + k * TALL;
        if (row < M) {
            out[size_t(row) * N + column] =
                in[size_t(row) * N + column] + shift;
        }
    }
}
