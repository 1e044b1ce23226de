// Every transfer becomes four floats wide. A thread takes a patch of 4 × 4 elements: it reads the
// patch as four float4s, turns it in its registers, and lays the four columns into the tile, which
// now is 64 × 64 and holds the square already turned. After the barrier each thread writes four
// float4s of `out`.
//
// What it should buy: the same sectors in a quarter of the requests, 16 sectors each, a quarter of
// the shared-memory instructions, and 64 bytes on their way for each thread before it has to wait;
// memory is kept busy by bytes in flight. The swizzle of rung 04 goes on, counted in float4s, and
// keeps all of it free of conflicts.
//
// 128-bit accesses need addresses that are multiples of 16 bytes: the rows of both matrices must be
// multiples of four floats long. Where they are not, a second instance of the kernel works with
// patches of 1 × 1.
//
// /// launch
// [[launch]]
// kernel = "transpose<4>"
// when = "M % 4 == 0 and N % 4 == 0"
// grid = ["cdiv(M, TILE) * cdiv(N, TILE)"]
// block = ["THREADS"]
//
// [[launch]]
// kernel = "transpose<1>"
// when = "M % 4 != 0 or N % 4 != 0"
// grid = ["cdiv(M, TILE) * cdiv(N, TILE)"]
// block = ["THREADS"]
// ///

// Side of the square that a block turns: 64 floats are 256 bytes, two whole cache lines of each
// row. A power of two, as the swizzle needs.
constexpr int TILE = 64;
static_assert((TILE & (TILE - 1)) == 0, "x ^ y stays below a power of two only");

constexpr int THREADS = 256;  // of a block: one for each of the 16 × 16 patches of 4 × 4

// WIDTH neighbours of a row, read and written as one: a float4 if WIDTH is 4, a float if it is 1.
template <int WIDTH>
struct alignas(WIDTH * sizeof(float)) Pack {
    float lane[WIDTH];
};

// in is M × N, out is N × M, both row-major: out[column][row] = in[row][column]. M and N are
// multiples of WIDTH.
template <int WIDTH>
__global__ void __launch_bounds__(THREADS)
transpose(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    constexpr int PACKS = TILE / WIDTH;     // packs in a row of the tile, patches along its side
    constexpr int PATCHES = PACKS * PACKS;  // patches in the square
    static_assert(PATCHES % THREADS == 0, "every thread takes the same number of patches");

    // The square as it will stand in `out`; pack p of its row r is kept at place p ^ (r / WIDTH).
    __shared__ Pack<WIDTH> tile[TILE][PACKS];

    const int tiles_across = (N + TILE - 1) / TILE;
    const int tile_row = blockIdx.x / tiles_across * TILE;     // where the square begins in `in`
    const int tile_column = blockIdx.x % tiles_across * TILE;

    // Neighbouring threads read neighbouring packs of a row. As M and N are multiples of WIDTH, a
    // patch lies either wholly inside the matrix or wholly outside.
    #pragma unroll
    for (int first = 0; first < PATCHES; first += THREADS) {
        const int patch = first + threadIdx.x;
        const int x = patch % PACKS;
        const int y = patch / PACKS;
        const int row = tile_row + y * WIDTH;
        const int column = tile_column + x * WIDTH;
        if (row < M && column < N) {
            Pack<WIDTH> rows[WIDTH];
            #pragma unroll
            for (int i = 0; i < WIDTH; ++i) {
                rows[i] = *reinterpret_cast<const Pack<WIDTH>*>(in + size_t(row + i) * N + column);
            }
            #pragma unroll
            for (int j = 0; j < WIDTH; ++j) {
                Pack<WIDTH> turned;
                #pragma unroll
                for (int i = 0; i < WIDTH; ++i) {
                    turned.lane[i] = rows[i].lane[j];
                }
                tile[x * WIDTH + j][y ^ x] = turned;  // pack y of this row, at place y ^ x
            }
        }
    }
    __syncthreads();  // the tile is complete

    // Neighbouring threads write neighbouring packs of a row of `out`: x and y have changed places.
    #pragma unroll
    for (int first = 0; first < PATCHES; first += THREADS) {
        const int patch = first + threadIdx.x;
        const int x = patch % PACKS;
        const int y = patch / PACKS;
        const int row = tile_row + x * WIDTH;
        const int column = tile_column + y * WIDTH;
        if (row < M && column < N) {
            #pragma unroll
            for (int i = 0; i < WIDTH; ++i) {
                *reinterpret_cast<Pack<WIDTH>*>(out + size_t(column + i) * M + row) =
                    tile[y * WIDTH + i][x ^ y];
            }
        }
    }
}
