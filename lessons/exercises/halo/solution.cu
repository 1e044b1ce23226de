// y[i] = x[i] - x[i - 1], and y[0] = x[0]: a halo of one element on the left.
//
// /// launch
// [[launch]]
// kernel = "halo"
// grid = ["cdiv(N, 8)"]
// block = [8]
// ///

extern "C" __global__ void halo(const int* x, int* y, int N)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        // BEGIN SOLUTION
        y[i] = i > 0 ? x[i] - x[i - 1] : x[0];
        // STARTER: // TODO: element 0 has no neighbour to its left.
        // STARTER: y[i] = x[i] - x[i - 1];
        // END SOLUTION
    }
}
