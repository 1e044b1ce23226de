// Each thread adds sixteen numbers, each warp adds its threads'
// sums by shuffles, and then adds its own to the total.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["cdiv(N, BLOCK * EACH)"]
// block = ["BLOCK"]
// zero = ["out"]
// ///

constexpr int BLOCK = 256;
constexpr int EACH = 16;  // numbers a thread

// out[0] += the sum of the N numbers of `in`.
extern "C" __global__ void block_sum(const float* __restrict__ in,
                                     float* __restrict__ out, int N)
{
    const long long first =
        (long long)blockIdx.x * BLOCK * EACH + threadIdx.x;
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const long long i = first + k * BLOCK;
        sum += i < N ? in[i] : 0.0f;
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(out, sum);
    }
}
