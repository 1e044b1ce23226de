// A block counts 2048 bytes in shared memory, and then adds its 256
// bins to the output.
//
// /// launch
// [[launch]]
// kernel = "histogram"
// grid = ["cdiv(N, BLOCK * EACH * 4)"]
// block = ["BLOCK"]
// zero = ["bins"]
// ///

constexpr int BLOCK = 256;  // threads of a block, and bins
constexpr int EACH = 2;     // words of four bytes a thread

// bins[b] += how many of the N bytes of `in` are b.
extern "C" __global__ void histogram(
    const unsigned char* __restrict__ in,
    unsigned* __restrict__ bins, int N)
{
    __shared__ unsigned counts[BLOCK];
    counts[threadIdx.x] = 0;
    __syncthreads();

    for (int k = 0; k < EACH; ++k) {
        const long long word =
            ((long long)blockIdx.x * EACH + k) * BLOCK + threadIdx.x;
        if (4 * word + 4 <= N) {
            const uchar4 four =
                reinterpret_cast<const uchar4*>(in)[word];
            atomicAdd(&counts[four.x], 1);
            atomicAdd(&counts[four.y], 1);
            atomicAdd(&counts[four.z], 1);
            atomicAdd(&counts[four.w], 1);
        } else {
            for (long long i = 4 * word; i < N; ++i) {
                atomicAdd(&counts[in[i]], 1);
            }
        }
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
