// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;
constexpr int R = 8;
constexpr int TILE = BLOCK + R;  //!

extern "C" __global__ void stencil(const float* in, float* out, int N)
{
    __shared__ float tile[TILE];  //!
    const int first = blockIdx.x * BLOCK;

    for (int place = threadIdx.x; place < TILE; place += BLOCK) {
        const long long i = (long long)first + place - R;
        tile[place] = 0 <= i && i < N ? in[i] : 0.0f;
    }
    __syncthreads();

    const int i = first + threadIdx.x;
    if (i < N) {
        float sum = 0.0f;
        for (int offset = 0; offset <= 2 * R; ++offset) {
            sum += tile[threadIdx.x + offset];  //~
        }
        out[i] = sum;
    }
}
