// Where all numbers of a tile are whole, sums come from prefix sums ("whole numbers are exact in a float"), but
// above 2^24 they are not. Wrong for whole numbers of 3e9 beside ones of 1..9 (timestamps, amounts in cents).
// Contract: any floats.
//
// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, 256)"]
// block = [256]
// ///
constexpr int R = 8;
constexpr int TILE = 256 + 2 * R;
extern "C" __global__ void stencil(const float* in, float* out, int N)
{
    __shared__ float tile[TILE];
    __shared__ float prefix[TILE + 1];
    const long long first = (long long)blockIdx.x * 256 - R;
    bool whole = true;
    for (int j = threadIdx.x; j < TILE; j += 256) {
        const long long i = first + j;
        const float x = i >= 0 && i < N ? in[i] : 0.0f;
        tile[j] = x;
        whole = whole && x == rintf(x) && fabsf(x) < 1e30f;
    }
    const int all = __syncthreads_and(whole);
    if (all) {
        if (threadIdx.x == 0) {
            float sum = 0.0f;
            for (int j = 0; j < TILE; ++j) { prefix[j] = sum; sum += tile[j]; }
            prefix[TILE] = sum;
        }
        __syncthreads();
    }
    const long long i = first + R + threadIdx.x;
    if (i >= N) return;
    if (all) { out[i] = prefix[threadIdx.x + 17] - prefix[threadIdx.x]; return; }
    float sum = 0.0f;
    for (int j = 0; j < 17; ++j) sum += tile[threadIdx.x + j];
    out[i] = sum;
}
