// y[i] = the sum of the four elements from 4 * i on, by blocks of 4 threads.
//
// /// launch
// [[launch]]
// kernel = "wide_loads"
// grid = ["blocks"]
// block = [4]
// ///

extern "C" __global__ void wide_loads(const int* x, int* y, int blocks)
{
    // The same memory, as an array of four ints each.
    const int4* wide = reinterpret_cast<const int4*>(x);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // BEGIN SOLUTION
    const int4 four = wide[i];
    y[i] = four.x + four.y + four.z + four.w;
    // STARTER: // TODO: add all four
    // STARTER: y[i] = wide[i].x;
    // END SOLUTION
}
