// Mistake: no guard. The threads of the last block read beyond the end of the array.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["cdiv(N, BLOCK)"]
//
// [[launch]]
// kernel = "sum_blocks"
// args = ["in", "sums", "N"]
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "sum_the_rest"
// args = ["sums", "out", "cdiv(N, BLOCK)"]
// grid = [1]
// block = [1]
// ///

constexpr int BLOCK = 256;

extern "C" __global__ void sum_blocks(const float* in, float* sums, int N)
{
    __shared__ float places[BLOCK];
    const int t = threadIdx.x;
    const int i = blockIdx.x * BLOCK + t;
    places[t] = in[i];
    __syncthreads();
    for (int distance = BLOCK / 2; distance > 0; distance /= 2) {
        if (t < distance) {
            places[t] += places[t + distance];
        }
        __syncthreads();
    }
    if (t == 0) {
        sums[blockIdx.x] = places[0];
    }
}

extern "C" __global__ void sum_the_rest(const float* sums, float* out, int count)
{
    float sum = 0.0f;
    for (int b = 0; b < count; ++b) {
        sum += sums[b];
    }
    out[0] = sum;
}
