// y[i] = x[N - 1 - i], through shared memory, by one block of N threads.
//
// /// launch
// [[launch]]
// kernel = "barrier"
// grid = [1]
// block = ["N"]
// ///

constexpr int MOST = 64;  // elements that tile has room for

extern "C" __global__ void barrier(const int* x, int* y, int N)
{
    __shared__ int tile[MOST];  // one array for all threads of the block

    const int i = threadIdx.x;
    tile[i] = x[i];
    // BEGIN SOLUTION
    __syncthreads();
    y[i] = tile[N - 1 - i];
    // STARTER: // TODO: load the element of the thread at the other end. Has that thread stored it yet?
    // STARTER: y[i] = tile[i];
    // END SOLUTION
}
