// One kernel: an element is read, added to, and written.
//
// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, BLOCK)", "cdiv(M, EACH)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;
constexpr int EACH = 8;  // rows a thread

// out[row][column] = in[row][column] + bias[column]; in and out are
// M × N, row-major.
extern "C" __global__ void add_bias(const float* __restrict__ in,
                                    const float* __restrict__ bias,
                                    float* __restrict__ out, int M,
                                    int N)
{
    const int column = blockIdx.x * BLOCK + threadIdx.x;
    const int first = blockIdx.y * EACH;
    const float shift = column < N ? bias[column] : 0.0f;
    #pragma unroll
    for (int k = 0; k < EACH; ++k) {
        if (first + k < M && column < N) {
            out[size_t(first + k) * N + column] =
                in[size_t(first + k) * N + column] + shift;
        }
    }
}
