// y[i] = x[i] + 10, by blocks of 4 threads that each take one element.
//
// /// launch
// [[launch]]
// kernel = "block_index"
// grid = ["blocks"]
// block = [4]
// ///

// x and y have 4 * blocks elements: as many as the grid has threads.
extern "C" __global__ void block_index(const int* x, int* y, int blocks)
{
    // BEGIN SOLUTION
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // STARTER: // TODO: threadIdx.x is 0 … 3 in every block, so all blocks write the same four elements.
    // STARTER: // How many threads of the grid come before this one?
    // STARTER: const int i = threadIdx.x;
    // END SOLUTION
    y[i] = x[i] + 10;
}
