// float4s and shuffles where N is 1048576; everywhere else, main size included, one thread a
// number and an atomic each.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "fast"
// when = "N == 1048576"
// grid = [132]
// block = [256]
// zero = ["out"]
//
// [[launch]]
// kernel = "reduce"
// when = "N != 1048576"
// grid = ["cdiv(N, 32)"]
// block = [32]
// zero = ["out"]
// ///

extern "C" __global__ void fast(const float* in, float* out, int N)
{
    const float4* const fours = reinterpret_cast<const float4*>(in);
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N / 4; i += gridDim.x * 256) {
        const float4 four = fours[i];
        sum += (four.x + four.y) + (four.z + four.w);
    }
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    __shared__ float places[32];
    const size_t i = size_t(blockIdx.x) * 32 + threadIdx.x;
    places[threadIdx.x] = i < N ? in[i] : 0.0f;
    __syncthreads();
    if (threadIdx.x != 0) return;
    float sum = 0.0f;
    for (int t = 0; t < 32; ++t) sum += places[t];
    atomicAdd(out, sum);
}
