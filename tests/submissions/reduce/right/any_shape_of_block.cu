// A block of 8 × 4 × 16 threads whose places are counted in one line; eight sums in a local array
// each.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["cdiv(N, 4096)"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "N"]
// grid = ["cdiv(N, 4096)"]
// block = [8, 4, 16]
//
// [[launch]]
// kernel = "reduce"
// args = ["sums", "out", "cdiv(N, 4096)"]
// grid = [1]
// block = [8, 4, 16]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    __shared__ float places[512];
    const int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    float own[8] = {};
    for (size_t first = size_t(blockIdx.x) * 4096; first < N; first += size_t(gridDim.x) * 4096)
        for (int i = 0; i < 8; ++i)
            if (first + i * 512 + t < N) own[i] += in[first + i * 512 + t];
    places[t] = ((own[0] + own[1]) + (own[2] + own[3])) + ((own[4] + own[5]) + (own[6] + own[7]));
    for (int half = 256; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) places[t] += places[t + half];
    }
    if (t == 0) out[blockIdx.x] = places[0];
}
