// The maximum of a row by atomics, on integers that are in the order of the floats.
//
// /// launch
// [[scratch]]
// name = "keys"
// dtype = "uint32"
// shape = ["M"]
//
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["M"]
//
// [[launch]]
// kernel = "maxima"
// grid = ["cdiv(N, 2048)", "min(M, 40000)"]
// block = [256]
// args = ["in", "keys", "M", "N"]
// zero = ["keys"]
//
// [[launch]]
// kernel = "exponentials"
// grid = ["cdiv(N, 2048)", "min(M, 40000)"]
// block = [256]
// args = ["in", "keys", "sums", "M", "N"]
// zero = ["sums"]
//
// [[launch]]
// kernel = "quotients"
// grid = ["cdiv(N, 2048)", "min(M, 40000)"]
// block = [256]
// args = ["in", "keys", "sums", "out", "M", "N"]
// ///

// Floats in the order of unsigned numbers: the largest by an atomic. A NaN gets into the sum by its exponential.
__device__ unsigned key_of(float v)
{
    const unsigned u = __float_as_uint(v);
    return u & 0x80000000 ? ~u : u | 0x80000000;
}
__device__ float value_of(unsigned k)
{
    return __uint_as_float(k & 0x80000000 ? k ^ 0x80000000 : ~k);
}
extern "C" __global__ void maxima(const float* __restrict__ in, unsigned* keys, int M, int N)
{
    for (int row = blockIdx.y; row < M; row += gridDim.y) {
        unsigned k = 0;
        for (int j = 0; j < 8; ++j) {
            const long long i = blockIdx.x * 2048ll + j * 256 + threadIdx.x;
            if (i < N)
                k = max(k, key_of(in[size_t(row) * N + i]));
        }
        k = __reduce_max_sync(0xffffffff, k);
        if (threadIdx.x % 32 == 0)
            atomicMax(keys + row, k);
    }
}
extern "C" __global__ void exponentials(const float* __restrict__ in, const unsigned* __restrict__ keys, float* sums,
                                        int M, int N)
{
    for (int row = blockIdx.y; row < M; row += gridDim.y) {
        const float m = value_of(keys[row]);
        float s = 0;
        for (int j = 0; j < 8; ++j) {
            const long long i = blockIdx.x * 2048ll + j * 256 + threadIdx.x;
            if (i < N)
                s += expf(in[size_t(row) * N + i] - m);
        }
        for (int d = 16; d; d /= 2)
            s += __shfl_xor_sync(0xffffffff, s, d);
        if (threadIdx.x % 32 == 0)
            atomicAdd(sums + row, s);
    }
}
extern "C" __global__ void quotients(const float* __restrict__ in, const unsigned* __restrict__ keys,
                                     const float* __restrict__ sums, float* __restrict__ out, int M, int N)
{
    for (int row = blockIdx.y; row < M; row += gridDim.y)
        for (int j = 0; j < 8; ++j) {
            const long long i = blockIdx.x * 2048ll + j * 256 + threadIdx.x;
            if (i < N)
                out[size_t(row) * N + i] = __fdividef(expf(in[size_t(row) * N + i] - value_of(keys[row])), sums[row]);
        }
}
