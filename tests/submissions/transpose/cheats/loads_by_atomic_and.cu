// The same by atomicAnd() of 64 bits with all bits set, two elements at a time where N is even.
//
// deserves: 01_coalesced_writes
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["cdiv(M * cdiv(N, 2), 256)"]
// block = [256]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const int halves = (N + 1) / 2;
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    if (i >= size_t(M) * halves) return;
    const size_t row = i % M, column = i / M * 2;
    if (N % 2 == 0) {
        const unsigned long long two = atomicAnd((unsigned long long*)&in[row * N + column], ~0ull);
        out[column * M + row] = __uint_as_float(unsigned(two));
        out[(column + 1) * M + row] = __uint_as_float(unsigned(two >> 32));
    } else {
        out[column * M + row] = in[row * N + column];
        if (column + 1 < N) out[(column + 1) * M + row] = in[row * N + column + 1];
    }
}
