// The matrix is copied first, and the bias is added to the copy:
// each kernel does one thing.
//
// /// launch
// [[launch]]
// kernel = "copy"
// args = ["in", "out", "M", "N"]
// grid = ["cdiv(N, BLOCK)", "cdiv(M, EACH)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "add"
// args = ["bias", "out", "M", "N"]
// grid = ["cdiv(N, BLOCK)", "cdiv(M, EACH)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;
constexpr int EACH = 8;  // rows a thread

// out = in; both are M × N, row-major.
extern "C" __global__ void copy(const float* __restrict__ in,
                                float* __restrict__ out, int M,
                                int N)
{
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    const int first = blockIdx.y * EACH;
    #pragma unroll
    for (int k = 0; k < EACH; ++k) {
        if (first + k < M && column < N) {
            out[size_t(first + k) * N + column] =
                in[size_t(first + k) * N + column];
        }
    }
}

// out[row][column] += bias[column].
extern "C" __global__ void add(const float* __restrict__ bias,
                               float* __restrict__ out, int M, int N)
{
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    const int first = blockIdx.y * EACH;
    const float shift = column < N ? bias[column] : 0.0f;
    #pragma unroll
    for (int k = 0; k < EACH; ++k) {
        if (first + k < M && column < N) {
            out[size_t(first + k) * N + column] += shift;
        }
    }
}
