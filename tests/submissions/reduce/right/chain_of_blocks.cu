// Blocks take their number from a counter, in the order in which they start, and each waits for
// the sum of the one before: a volatile flag, with a fence on either side. Whoever waits, waits
// for a block that has started.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["cdiv(N, 1024)"]
//
// [[scratch]]
// name = "flags"
// dtype = "int32"
// shape = ["cdiv(N, 1024)"]
//
// [[scratch]]
// name = "next"
// dtype = "uint32"
// shape = [1]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "out", "sums", "flags", "next", "N"]
// grid = ["cdiv(N, 1024)"]
// block = [256]
// zero = ["flags", "next"]
// ///

extern "C" __global__ void reduce(const float* in, float* out, volatile float* sums, volatile int* flags,
                                  unsigned* next, int N)
{
    __shared__ float places[256];
    __shared__ unsigned number;
    const int t = threadIdx.x;
    if (t == 0) number = atomicAdd(next, 1u);
    __syncthreads();
    const size_t first = size_t(number) * 1024 + t;
    float sum = 0.0f;
    for (int i = 0; i < 4; ++i)
        if (first + 256 * i < N) sum += in[first + 256 * i];
    places[t] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) places[t] += places[t + half];
        __syncthreads();
    }
    if (t != 0) return;
    float total = places[0];
    if (number > 0) {
        while (flags[number - 1] == 0) {
        }
        __threadfence();
        total += sums[number - 1];
    }
    if (number == gridDim.x - 1) {
        *out = total;
    } else {
        sums[number] = total;
        __threadfence();
        flags[number] = 1;
    }
}
