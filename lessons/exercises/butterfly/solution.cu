// y[i] = x[i] less the largest element of its block, which is one warp.
//
// /// launch
// [[launch]]
// kernel = "butterfly"
// grid = ["blocks"]
// block = [32]
// ///

extern "C" __global__ void butterfly(const int* x, int* y, int blocks)
{
    const int i = blockIdx.x * 32 + threadIdx.x;
    int largest = x[i];
    for (int distance = 16; distance > 0; distance /= 2) {
        // BEGIN SOLUTION
        largest = max(largest, __shfl_xor_sync(0xffffffff, largest, distance));
        // STARTER: // TODO: exchange with the lane whose number differs in this bit
        // END SOLUTION
    }
    y[i] = x[i] - largest;
}
