// A warp turns a square of 32 × 32 in its registers: five rounds of exchanges by shuffle, as in an FFT, and no shared
// memory. In the round of distance d, lanes that differ in bit d exchange the registers whose other bit it is.
//
// /// launch
// [[launch]]
// kernel = "turn"
// grid = ["cdiv(cdiv(M, 32) * cdiv(N, 32), 4)"]
// block = [32, 4]
// ///

template <int D>
__device__ void exchange(unsigned (&v)[32], int lane)
{
    const bool upper = lane & D;
#pragma unroll
    for (int i = 0; i < 32; ++i) {
        if (i & D) continue;
        const unsigned gives = upper ? v[i] : v[i | D];
        const unsigned takes = __shfl_xor_sync(~0u, gives, D);
        if (upper) v[i] = takes;
        else v[i | D] = takes;
    }
}

extern "C" __global__ void turn(const unsigned* in, unsigned* out, int M, int N)
{
    const int across = N / 32 + (N % 32 != 0), down = M / 32 + (M % 32 != 0);
    const long long square = (long long)blockIdx.x * 4 + threadIdx.y;
    if (square >= (long long)across * down) return;  // a whole warp
    const long long row = square / across * 32, column = square % across * 32;
    const int lane = threadIdx.x;
    unsigned v[32];
#pragma unroll
    for (int i = 0; i < 32; ++i) v[i] = row + i < M && column + lane < N ? in[(row + i) * N + column + lane] : 0u;
    exchange<16>(v, lane);
    exchange<8>(v, lane);
    exchange<4>(v, lane);
    exchange<2>(v, lane);
    exchange<1>(v, lane);
#pragma unroll
    for (int i = 0; i < 32; ++i)
        if (column + i < N && row + lane < M) out[(column + i) * M + row + lane] = v[i];
}
