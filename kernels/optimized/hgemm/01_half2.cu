// Two halves at a time: a half2 is 32 bits, the width that a lane of a load moves best. A thread
// computes two neighbouring columns and takes two steps of k at once. It fetches a half2 of A,
// which is two steps of k, and from either of the two rows of B a half2, which is its two columns:
// three loads for four multiply-adds, in PTX as in SASS.
//
// What it should buy: 3/4 of a load request for a multiply-add where rung 00 has 2, in PTX. Each
// request of B covers 128 bytes, 4 full sectors.
//
// What it must not do: multiply and add the half2s as they are. There is an instruction for that,
// __hfma2, twice as fast as its counterpart for floats. But it rounds every partial sum to half.
//
// A half2 has to lie at a multiple of 4 bytes, and later rungs want 16: eight halves. The rows of a
// matrix all start at one only if they are a multiple of eight halves long. For other sizes two
// launches first copy A and B into scratch arrays with longer rows, zeros behind the data. They
// count: they are timed with the product.
//
// /// launch
// [[scratch]]
// name = "A_padded"
// dtype = "float16"
// shape = ["cdiv(M, V) * V", "cdiv(K, V) * V"]
//
// [[scratch]]
// name = "B_padded"
// dtype = "float16"
// shape = ["cdiv(K, V) * V", "cdiv(N, V) * V"]
//
// [[launch]]
// kernel = "pad"
// when = "K % V != 0 or N % V != 0"
// args = ["A", "A_padded", "M", "K"]
// grid = ["cdiv(cdiv(M, V) * V * cdiv(K, V), PAD_THREADS)"]
// block = ["PAD_THREADS"]
//
// [[launch]]
// kernel = "pad"
// when = "K % V != 0 or N % V != 0"
// args = ["B", "B_padded", "K", "N"]
// grid = ["cdiv(cdiv(K, V) * V * cdiv(N, V), PAD_THREADS)"]
// block = ["PAD_THREADS"]
//
// [[launch]]
// kernel = "hgemm"
// when = "K % V != 0 or N % V != 0"
// args = ["A_padded", "B_padded", "C", "M", "N", "K"]
// grid = ["cdiv(M, BM) * cdiv(N, BN)"]
// block = ["BN // 2", "BM"]
//
// [[launch]]
// kernel = "hgemm"
// when = "K % V == 0 and N % V == 0"
// grid = ["cdiv(M, BM) * cdiv(N, BN)"]
// block = ["BN // 2", "BM"]
// ///

#include <cuda_fp16.h>

constexpr int BM = 16;  // rows of C that a block computes
constexpr int BN = 64;  // columns of C that a block computes: a warp's 32 half2s
constexpr int V = 8;    // rows are padded to a multiple of so many halves, 16 bytes

constexpr int PAD_THREADS = 256;  // threads of a block that pads

// The smallest multiple of V that is not below x.
__device__ constexpr int round_up(int x)
{
    return (x + V - 1) / V * V;
}

// Copies a matrix of rows × columns, row-major, into one of round_up(rows) × round_up(columns),
// with zeros where the source has nothing. A thread writes V neighbouring halves, all at once.
extern "C" __global__ void pad(const half* __restrict__ source, half* __restrict__ target, int rows,
                               int columns)
{
    const int pieces_a_row = round_up(columns) / V;
    const int piece = blockIdx.x * PAD_THREADS + threadIdx.x;
    const int row = piece / pieces_a_row;
    const int column = piece % pieces_a_row * V;
    if (row >= round_up(rows)) {
        return;
    }

    __align__(16) half values[V];
    #pragma unroll
    for (int i = 0; i < V; ++i) {
        const bool inside = row < rows && column + i < columns;
        values[i] = inside ? source[size_t(row) * columns + column + i] : half(0.0f);
    }
    *reinterpret_cast<uint4*>(target + size_t(piece) * V) = *reinterpret_cast<const uint4*>(values);
}

// C = A · B, all row-major, A and B half, C float: C is M × N. The rows of A are round_up(K) long
// and those of B round_up(N), with zeros beyond K and N, and B has rows of zeros up to round_up(K):
// that is the case for the padded copies, and for any matrix whose sides are multiples of V.
extern "C" __global__ void __launch_bounds__(BM * BN / 2)
hgemm(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C, int M, int N,
      int K)
{
    const int blocks_across = (N + BN - 1) / BN;
    const int row = blockIdx.x / blocks_across * BM + threadIdx.y;
    const int column = blockIdx.x % blocks_across * BN + threadIdx.x * 2;
    if (row >= M || column >= N) {
        return;
    }

    // Rows seen as half2s. Every second column belongs to a thread, so a row of B has as many
    // half2s as threads want.
    const auto a_row = reinterpret_cast<const half2*>(A + size_t(row) * round_up(K));
    const auto b_pairs = reinterpret_cast<const half2*>(B + column);
    const size_t b_length = round_up(N) / 2;

    float left = 0.0f;
    float right = 0.0f;
    for (int k = 0; k < round_up(K); k += 2) {
        const float2 a = __half22float2(a_row[k / 2]);
        const float2 upper = __half22float2(b_pairs[k * b_length]);
        const float2 lower = __half22float2(b_pairs[(k + 1) * b_length]);
        left += a.x * upper.x;
        right += a.x * upper.y;
        left += a.y * lower.x;
        right += a.y * lower.y;
    }

    // A row of C has odd length if N is odd, so its floats are stored one by one.
    float* const c = C + size_t(row) * N + column;
    c[0] = left;
    if (column + 1 < N) {
        c[1] = right;
    }
}
