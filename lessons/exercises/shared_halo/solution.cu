// y[i] = x[i] - x[i - 1], from shared memory: a block's 8 elements and one before them.
//
// /// launch
// [[launch]]
// kernel = "shared_halo"
// grid = ["blocks"]
// block = [8]
// ///

extern "C" __global__ void shared_halo(const int* x, int* y, int blocks)
{
    __shared__ int s[9];  // s[0] is the halo, s[1 + t] the element of thread t
    const int i = blockIdx.x * 8 + threadIdx.x;
    s[1 + threadIdx.x] = x[i];
    // BEGIN SOLUTION
    if (threadIdx.x == 0) {
        s[0] = i > 0 ? x[i - 1] : 0;
    }
    // STARTER: // TODO: who loads s[0], and what is in it in the first block?
    // END SOLUTION
    __syncthreads();
    y[i] = s[1 + threadIdx.x] - s[threadIdx.x];
}
