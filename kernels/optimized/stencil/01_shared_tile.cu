// The block reads its elements once and shares them. Its 256 outputs need 256 elements of their own
// and 8 more on either side, the halo; all 272 go into an array in shared memory, which the threads
// of a block have in common. After a barrier each thread adds up its 17 from there.
//
// What it should buy: about one request to global memory for 32 outputs where it was 17, in PTX.
// Also, the ends of the array are looked after once, while the tile is filled: what lies beyond
// them is a zero in the tile, and the loop of additions needs no test.
//
// What it does not buy on a GPU of today: time. The naive version's repeated requests hit L1, which is
// the same memory as this tile and answers as quickly. Filling the tile and waiting for it come on
// top: an H200 takes longer than before (measurements/h200/stencil.json). The tile is what the next
// version reads its window from.
//
// /// launch
// side_step = true
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;           // threads of a block, and outputs
constexpr int R = 8;                 // the radius: how far the stencil reaches to either side
constexpr int TILE = BLOCK + 2 * R;  // elements that a block needs: its own, and a halo on either side

// in and out have N elements each; out[i] = in[i - R] + … + in[i + R].
extern "C" __global__ void stencil(const float* __restrict__ in, float* __restrict__ out, int N)
{
    __shared__ float tile[TILE];  // tile[k] is in[first + k], and zero beyond the ends of `in`

    const int first = blockIdx.x * BLOCK - R;

    // 272 elements for 256 threads: the first 16 threads take a second one.
    for (int k = threadIdx.x; k < TILE; k += BLOCK) {
        // As unsigned numbers negative places are very large, so one test sees both ends.
        const unsigned place = static_cast<unsigned>(first) + k;
        tile[k] = place < static_cast<unsigned>(N) ? in[place] : 0.0f;
    }

    // A thread reads below what others have written above: it has to wait until all are there. Every
    // thread of the block comes to this barrier, those beyond the end of `out` as well.
    __syncthreads();

    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < N) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k <= 2 * R; ++k) {
            sum += tile[threadIdx.x + k];
        }
        out[i] = sum;
    }
}
