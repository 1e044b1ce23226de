// c = a + b, divided among the threads as one would divide it among the cores of a CPU: each thread
// takes a run of 32 neighbouring elements and adds them one after the other.
//
// What it costs: the threads of a warp run in step. At each turn of the loop its 32 threads ask for
// 32 elements that lie a whole run, 128 bytes, apart. Memory comes in sectors of 32 bytes, so one
// request touches 32 sectors and uses 4 bytes of each. The L1 cache keeps the rest of what was read
// for the turns that follow; what is written leaves for the L2 cache in pieces of 4 bytes.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, BLOCK * RUN)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;  // threads of a block: 8 warps of 32
constexpr int RUN = 32;     // neighbouring elements that one thread adds

// a, b and c have N elements each; c[i] = a[i] + b[i]. `extern "C"` keeps the kernel's name as it is
// written, so that the launch block can name it; `__global__` makes it a kernel: called by the host,
// run by every thread of the grid.
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    // The number of this thread in the whole grid: blocks before this one, and threads before this
    // one in its block.
    const int thread = blockIdx.x * BLOCK + threadIdx.x;

    for (int step = 0; step < RUN; ++step) {
        // 64 bits: where N is close to the largest int, the last threads' elements lie beyond it.
        const long long i = static_cast<long long>(thread) * RUN + step;
        if (i < N) {  // the last runs reach beyond the end of the arrays
            c[i] = a[i] + b[i];
        }
    }
}
