// Blocks draw squares from a counter, in the order of diagonals, until none is left.
//
// /// launch
// [[scratch]]
// name = "next"
// dtype = "uint32"
// shape = [1]
//
// [[launch]]
// kernel = "transpose"
// args = ["in", "out", "next", "M", "N"]
// grid = ["min(2 * SMS, cdiv(M, T) * cdiv(N, T))"]
// block = ["T", 8]
// zero = ["next"]
// ///

constexpr int T = 32;

extern "C" __global__ void transpose(const float* in, float* out, unsigned* next, int M, int N)
{
    __shared__ float tile[T][T + 1];
    __shared__ unsigned ticket;
    const unsigned across = (N + T - 1) / T, down = (M + T - 1) / T;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0 && threadIdx.y == 0) ticket = atomicInc(next, 0xffffffffu);
        __syncthreads();
        if (ticket >= across * down) break;
        const int column = ticket % across, row = (ticket / across + column) % down;
        const int top = row * T, left = column * T;
        for (int y = threadIdx.y; y < T; y += 8)
            if (top + y < M && left + threadIdx.x < N)
                tile[y][threadIdx.x] = in[size_t(top + y) * N + left + threadIdx.x];
        __syncthreads();
        for (int y = threadIdx.y; y < T; y += 8)
            if (left + y < N && top + threadIdx.x < M)
                out[size_t(left + y) * M + top + threadIdx.x] = tile[threadIdx.x][y];
    }
}
