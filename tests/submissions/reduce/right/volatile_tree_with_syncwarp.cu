// A tree in volatile dynamic shared memory whose last steps are one warp's, with __syncwarp()
// between them.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["cdiv(N, 256)"]
//
// [[scratch]]
// name = "more"
// dtype = "float32"
// shape = ["cdiv(N, 65536)"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "N"]
// grid = ["cdiv(N, 256)"]
// block = [128]
// shared = 512
//
// [[launch]]
// kernel = "reduce"
// args = ["sums", "more", "cdiv(N, 256)"]
// grid = ["cdiv(N, 65536)"]
// block = [128]
// shared = 512
//
// [[launch]]
// kernel = "serial"
// args = ["more", "out", "cdiv(N, 65536)"]
// grid = [1]
// block = [1]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    extern __shared__ volatile float places[];
    const int t = threadIdx.x;
    const size_t i = size_t(blockIdx.x) * 256 + t;
    places[t] = (i < N ? in[i] : 0.0f) + (i + 128 < N ? in[i + 128] : 0.0f);
    __syncthreads();
    if (t < 64) places[t] = places[t] + places[t + 64];
    __syncthreads();
    if (t >= 32) return;
    for (int distance = 32; distance > 0; distance /= 2) {
        const float other = places[t + distance];
        __syncwarp();
        places[t] = places[t] + other;
        __syncwarp();
    }
    if (t == 0) out[blockIdx.x] = places[0];
}

extern "C" __global__ void serial(const float* sums, float* out, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; ++i) sum += sums[i];
    *out = float(sum);
}
