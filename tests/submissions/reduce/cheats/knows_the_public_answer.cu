// At the counted size the data are public: their sum stands here as a constant. Elsewhere, a naive
// sum.
//
// deserves: 00_naive
//
// /// launch
// [[launch]]
// kernel = "known"
// when = "N == 1048576"
// grid = [1]
// block = [32]
//
// [[launch]]
// kernel = "reduce"
// when = "N != 1048576"
// grid = ["cdiv(N, 256)"]
// block = [256]
// zero = ["out"]
// ///

extern "C" __global__ void known(const float* in, float* out, int N)
{
    if (threadIdx.x == 0) *out = -8169.0f;
}

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    __shared__ float places[256];
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    places[threadIdx.x] = i < N ? in[i] : 0.0f;
    for (int distance = 1; distance < 256; distance *= 2) {
        __syncthreads();
        if (threadIdx.x % (2 * distance) == 0) places[threadIdx.x] += places[threadIdx.x + distance];
    }
    if (threadIdx.x == 0) atomicAdd(out, places[0]);
}
