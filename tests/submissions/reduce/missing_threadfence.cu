// Mistake: a block announces its sum without a __threadfence() behind it. The last block may see the
// counter rise before it can see the sum.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["cdiv(N, BLOCK)"]
//
// [[scratch]]
// name = "done"
// dtype = "uint32"
// shape = [1]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "done", "out", "N"]
// zero = ["done"]
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void reduce(const float* in, float* sums, unsigned* done, float* out, int N)
{
    __shared__ float places[BLOCK];
    __shared__ bool last;
    const int t = threadIdx.x;
    const int i = blockIdx.x * BLOCK + t;
    places[t] = i < N ? in[i] : 0.0f;
    __syncthreads();
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        if (t < distance) {
            places[t] += places[t + distance];
        }
        __syncthreads();
    }
    if (t == 0) {
        sums[blockIdx.x] = places[0];
        last = atomicAdd(done, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        float sum = 0.0f;
        for (int b = 0; b < gridDim.x; ++b) {
            sum += sums[b];
        }
        out[0] = sum;
    }
}
