// No lane adds to another's: each sends its four to the row's word by an atomic, 32 lanes to one word.
//
// deserves: 01_block_a_row
//
// /// launch
// [[launch]]
// kernel = "sums<4>"
// when = "N % 4 == 0"
// grid = ["cdiv(N, 128)", "min(cdiv(M, 256), 4096)"]
// block = [32, 8]
// zero = ["rows", "cols"]
//
// [[launch]]
// kernel = "sums<1>"
// when = "N % 4 != 0"
// grid = ["cdiv(N, 32)", "min(cdiv(M, 256), 4096)"]
// block = [32, 8]
// zero = ["rows", "cols"]
// ///

template <int W>
struct alignas(4 * W) Pack { float lane[W]; };

template <int W>
__global__ void sums(const float* in, float* rows, float* cols, int M, int N)
{
    const int column = (blockIdx.x * 32 + threadIdx.x) * W;
    if (column >= N) return;
    for (int top = blockIdx.y * 256; top < M; top += gridDim.y * 256) {
        Pack<W> down = {};
        for (int row = top + threadIdx.y; row < min(M, top + 256); row += 8) {
            const Pack<W> own = *reinterpret_cast<const Pack<W>*>(in + size_t(row) * N + column);
            float along = 0.0f;
            for (int j = 0; j < W; ++j) {
                down.lane[j] += own.lane[j];
                along += own.lane[j];
            }
            atomicAdd(rows + row, along);
        }
        for (int j = 0; j < W; ++j) atomicAdd(cols + column + j, down.lane[j]);
    }
}
