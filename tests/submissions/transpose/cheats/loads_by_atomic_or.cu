// Loads are atomicOr(p, 0): no sector of them is a load's. The warp reads a column of `in`.
//
// deserves: 01_coalesced_writes
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M, 32) * cdiv(N, 32)"]
// block = [32, 8]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int across = (N + 31) / 32, row = blockIdx.x / across * 32 + threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 8) {
        const int column = blockIdx.x % across * 32 + y;
        if (row < M && column < N)
            out[size_t(column) * M + row] = __uint_as_float(atomicOr((unsigned*)&in[size_t(row) * N + column], 0u));
    }
}
