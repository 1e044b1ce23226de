// sums[t] = x[t] + x[t + 8] + x[t + 16] + ..., by 2 blocks of 4 threads, however many elements there are.
//
// /// launch
// [[launch]]
// kernel = "grid_stride"
// grid = [2]
// block = [4]
// ///

extern "C" __global__ void grid_stride(const int* x, int* sums, int N)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;  // 0 ... 7
    int sum = 0;
    // BEGIN SOLUTION
    for (int i = t; i < N; i += gridDim.x * blockDim.x) {
        sum += x[i];
    }
    // STARTER: // TODO: this is one element a thread, 8 in all. Go on until none is left.
    // STARTER: if (t < N) {
    // STARTER:     sum += x[t];
    // STARTER: }
    // END SOLUTION
    sums[t] = sum;
}
