// Sums of blocks go to scratch memory with room for 4096 of them; the grid has as many as the
// array needs.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = [4096]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "N"]
// grid = ["cdiv(N, 256)"]
// block = [256]
//
// [[launch]]
// kernel = "reduce"
// args = ["sums", "out", "cdiv(N, 256)"]
// grid = [1]
// block = [256]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    __shared__ float places[256];
    const int t = threadIdx.x;
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 256 + t; i < N; i += size_t(gridDim.x) * 256) sum += in[i];
    places[t] = sum;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) places[t] += places[t + half];
    }
    if (t == 0) out[blockIdx.x] = places[0];
}
