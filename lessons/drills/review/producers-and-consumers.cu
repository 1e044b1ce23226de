// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, CONSUMERS)"]
// block = ["PRODUCERS + CONSUMERS"]
// ///

constexpr int PRODUCERS = 64;
constexpr int CONSUMERS = 128;  // and outputs of a block
constexpr int R = 8;
constexpr int TILE = R + CONSUMERS + R;
constexpr int FULL = CONSUMERS;  //!

extern "C" __global__ void stencil(const float* in, float* out, int N)
{
    __shared__ float tile[TILE];
    const int first = blockIdx.x * CONSUMERS;

    if (threadIdx.x < PRODUCERS) {
        for (int place = threadIdx.x; place < TILE; place += PRODUCERS) {
            const long long i = (long long)first + place - R;
            tile[place] = 0 <= i && i < N ? in[i] : 0.0f;  //~
        }
        asm volatile("bar.arrive 1, %0;" ::"n"(FULL) : "memory");
    } else {
        const int t = threadIdx.x - PRODUCERS;
        asm volatile("bar.sync 1, %0;" ::"n"(FULL) : "memory");  //~
        float sum = 0.0f;
        for (int offset = 0; offset <= 2 * R; ++offset) {
            sum += tile[t + offset];  //~
        }
        if (first + t < N) {
            out[first + t] = sum;
        }
    }
}
