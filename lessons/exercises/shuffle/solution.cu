// y[b] = the sum of the 32 elements of block b, which is one warp.
//
// /// launch
// [[launch]]
// kernel = "shuffle"
// grid = ["blocks"]
// block = [32]
// ///

extern "C" __global__ void shuffle(const int* x, int* y, int blocks)
{
    int sum = x[blockIdx.x * 32 + threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) {
        // BEGIN SOLUTION
        sum += __shfl_down_sync(0xffffffff, sum, distance);
        // STARTER: // TODO: to this lane's sum, add that of the lane `distance` places further on
        // END SOLUTION
    }
    if (threadIdx.x == 0) {
        y[blockIdx.x] = sum;
    }
}
