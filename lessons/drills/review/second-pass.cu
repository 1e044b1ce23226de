// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["cdiv(N, BLOCK)"]
//
// [[launch]]
// kernel = "add_up"
// args = ["in", "sums", "N"]
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "add_up"
// args = ["sums", "out", "cdiv(N, BLOCK)"]
// grid = [1]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;

// out[b] is the sum of what block b takes of the n numbers of `in`.
extern "C" __global__ void add_up(const float* in, float* out, int n)
{
    __shared__ float numbers[BLOCK];
    const size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x;  //!
    numbers[threadIdx.x] = i < n ? in[i] : 0.0f;  //!
    __syncthreads();

    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            numbers[threadIdx.x] += numbers[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        out[blockIdx.x] = numbers[0];
    }
}
