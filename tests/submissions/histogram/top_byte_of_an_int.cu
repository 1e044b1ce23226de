// Words of four bytes, taken apart by shifts: the top byte keeps the sign of an int.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, 1024)"]
// block = ["256"]
// zero = ["bins"]
// ///

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N / 4) {
        const int word = reinterpret_cast<const int*>(in)[i];
        for (int shift = 0; shift < 24; shift += 8) atomicAdd(&bins[(word >> shift) & 0xff], 1);
        atomicAdd(&bins[word >> 24], 1);
    }
    if (i < N % 4) atomicAdd(&bins[in[N / 4 * 4 + i]], 1);
}
