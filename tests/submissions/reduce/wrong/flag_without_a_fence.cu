// A chain of blocks hands sums on through volatile memory, and no fence stands between sum and
// flag.
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
// block = [32]
// zero = ["flags", "next"]
// ///

extern "C" __global__ void reduce(const float* in, float* out, volatile float* sums, volatile int* flags,
                                  unsigned* next, int N)
{
    unsigned number = threadIdx.x == 0 ? atomicAdd(next, 1u) : 0;
    number = __shfl_sync(~0u, number, 0);
    float sum = 0.0f;
    for (size_t i = size_t(number) * 1024 + threadIdx.x; i < min(size_t(N), size_t(number + 1) * 1024); i += 32)
        sum += in[i];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x != 0) return;
    if (number > 0) {
        while (flags[number - 1] == 0) {
        }
        sum += sums[number - 1];
    }
    if (number == gridDim.x - 1) *out = sum;
    sums[number] = sum;
    flags[number] = 1;
}
