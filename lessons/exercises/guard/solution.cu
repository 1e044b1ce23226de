// y[i] = x[i] + 10, by blocks of 8 threads, where N need not be a multiple of 8.
//
// cdiv(N, 8) is N / 8 rounded up: with N = 11 the grid has 2 blocks.
//
// /// launch
// [[launch]]
// kernel = "guard"
// grid = ["cdiv(N, 8)"]
// block = [8]
// ///

extern "C" __global__ void guard(const int* x, int* y, int N)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // BEGIN SOLUTION
    if (i < N) {
        y[i] = x[i] + 10;
    }
    // STARTER: // TODO: the last block may have more threads than there are elements left.
    // STARTER: y[i] = x[i] + 10;
    // END SOLUTION
}
