// The copies are cleared and added up for too few bytes, in 32768 blocks.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, BYTES)"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BYTES = 8192;  // of a block
constexpr int BLOCK = 256;   // threads of a block, each with a bin

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int N)
{
    __shared__ unsigned counts[256][32];
    const int lane = threadIdx.x % 32;
    const int t = threadIdx.x;
    for (int k = 0; k < 32; k++) {
        counts[t][(t + k) % 32] = 0;
    }
    __syncthreads();
    const uint4* packs = (const uint4*)in;
    const int whole = N / 16;
    for (int k = 0; k < BYTES / 16 / BLOCK; k++) {
        const int i = blockIdx.x * (BYTES / 16) + k * BLOCK + t;
        if (i < whole) {
            uint4 v = packs[i];
            for (int s = 0; s < 32; s += 8) {
                atomicAdd(&counts[(v.x >> s) & 255][lane], 1);
                atomicAdd(&counts[(v.y >> s) & 255][lane], 1);
                atomicAdd(&counts[(v.z >> s) & 255][lane], 1);
                atomicAdd(&counts[(v.w >> s) & 255][lane], 1);
            }
        }
    }
    if (blockIdx.x == 0 && t < N % 16) {
        atomicAdd(&counts[in[whole * 16 + t]][lane], 1);
    }
    __syncthreads();
    unsigned sum = 0;
    for (int k = 0; k < 32; k++) {
        sum += counts[t][(t + k) % 32];
    }
    atomicAdd(&bins[t], sum);
}
