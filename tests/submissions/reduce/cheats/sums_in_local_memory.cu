// A thread writes its numbers to local memory and reads them again, at indices that the compiler
// does not know, eight times over.
//
// deserves: 03_first_add
//
// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["cdiv(N, 8192)"]
// block = [256]
// zero = ["out"]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    float own[32];
    float sum = 0.0f;
    for (int i = 0; i < 32; ++i) {
        const size_t place = size_t(blockIdx.x) * 8192 + i * 256 + threadIdx.x;
        own[(i + N) % 32] = place < N ? in[place] : 0.0f;
    }
#pragma unroll 1
    for (int turn = 0; turn < 8; ++turn) {
        sum = 0.0f;
#pragma unroll 1
        for (int i = 0; i < 32; ++i) {
            own[(i + N + turn) % 32] += 0.0f;
            sum += own[(i + N) % 32];
        }
    }
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
