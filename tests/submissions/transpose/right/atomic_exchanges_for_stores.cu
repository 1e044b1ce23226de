// Every element is written by atomicExch: atomics write as well as stores do.
//
// deserves: 01_coalesced_writes
//
// /// launch
// [[launch]]
// kernel = "transpose"
// grid = ["min(cdiv(M * N, 256), 2147483647)"]
// block = [256]
// ///

extern "C" __global__ void transpose(const float* in, float* out, int M, int N)
{
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    if (i < size_t(M) * N) atomicExch(&out[i], in[i % M * N + i / M]);
}
