// The two halves of a block add each their own numbers and meet at barriers 1 and 2, of 128
// threads; only at the end does the whole block meet.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["cdiv(N, 512)"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "N"]
// grid = ["cdiv(N, 512)"]
// block = [256]
//
// [[launch]]
// kernel = "serial"
// args = ["sums", "out", "cdiv(N, 512)"]
// grid = [1]
// block = [1]
// ///

extern "C" __global__ void reduce(const float* in, float* out, int N)
{
    __shared__ float places[2][128];
    const int half = threadIdx.x / 128, t = threadIdx.x % 128;
    float* const own = places[half];
    const size_t first = size_t(blockIdx.x) * 512 + half * 256 + t;
    own[t] = (first < N ? in[first] : 0.0f) + (first + 128 < N ? in[first + 128] : 0.0f);
    for (int distance = 64; distance > 0; distance /= 2) {
        asm volatile("bar.sync %0, 128;" ::"r"(1 + half) : "memory");
        if (t < distance) own[t] += own[t + distance];
    }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = places[0][0] + places[1][0];
}

extern "C" __global__ void serial(const float* sums, float* out, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; ++i) sum += sums[i];
    *out = float(sum);
}
