// Mistake: a block waits for the pair of an earlier one in a loop whose load the compiler may take out of it.
//
// /// launch
// [[scratch]]
// name = "pairs"
// dtype = "float32"
// shape = ["M", 2]
//
// [[scratch]]
// name = "ready"
// dtype = "uint32"
// shape = ["M"]
//
// [[scratch]]
// name = "ticket"
// dtype = "uint32"
// shape = [1]
//
// [[launch]]
// kernel = "softmax"
// args = ["in", "out", "pairs", "ready", "ticket", "M", "N"]
// grid = ["2 * M"]
// block = ["WARP"]
// zero = ["ready", "ticket"]
// ///

constexpr int WARP = 32;
constexpr unsigned ALL = 0xffffffff;

extern "C" __global__ void softmax(const float* in, float* out, float* pairs, unsigned* ready, unsigned* ticket,
                                   int M, int N)
{
    // Blocks are numbered in the order in which they begin: two for each row, of which the second finishes it.
    unsigned number = threadIdx.x == 0 ? atomicAdd(ticket, 1u) : 0;
    number = __shfl_sync(ALL, number, 0);
    const int row = number / 2;
    const int half = number % 2;
    const float* const x = in + size_t(row) * N;
    const int first = half * (N / 2);
    const int end = half == 0 ? N / 2 : N;

    float maximum = -3.402823466e38f;
    for (int column = first + threadIdx.x; column < end; column += WARP) {
        maximum = fmaxf(maximum, x[column]);
    }
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        maximum = fmaxf(maximum, __shfl_xor_sync(ALL, maximum, distance));
    }
    float sum = 0.0f;
    for (int column = first + threadIdx.x; column < end; column += WARP) {
        sum += expf(x[column] - maximum);
    }
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(ALL, sum, distance);
    }
    if (half == 0) {
        if (threadIdx.x == 0) {
            pairs[2 * size_t(row)] = maximum;
            pairs[2 * size_t(row) + 1] = sum;
            __threadfence();
            atomicExch(&ready[row], 1u);
        }
        return;
    }
    while (ready[row] == 0) {
    }
    __threadfence();
    const float other = __ldcg(&pairs[2 * size_t(row)]);
    const float larger = fmaxf(maximum, other);
    sum = sum * expf(maximum - larger) + __ldcg(&pairs[2 * size_t(row) + 1]) * expf(other - larger);
    for (int column = threadIdx.x; column < N; column += WARP) {
        out[size_t(row) * N + column] = expf(x[column] - larger) / sum;
    }
}
