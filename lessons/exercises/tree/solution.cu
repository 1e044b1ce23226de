// sums[b] is the sum of x[8 * b] to x[8 * b + 7]: each block adds 8 elements, by a tree in shared memory.
//
// /// launch
// [[launch]]
// kernel = "tree"
// grid = ["blocks"]
// block = [8]
// ///

extern "C" __global__ void tree(const int* x, int* sums, int blocks)
{
    __shared__ int part[8];

    const int t = threadIdx.x;
    part[t] = x[blockIdx.x * 8 + t];
    __syncthreads();

    for (int half = 4; half > 0; half /= 2) {
        // BEGIN SOLUTION
        if (t < half) {
            part[t] += part[t + half];
        }
        __syncthreads();
        // STARTER: // TODO: one step. The first `half` threads add the element `half` places further on to their own.
        // STARTER: // When may the next step begin?
        // END SOLUTION
    }

    if (t == 0) {
        sums[blockIdx.x] = part[0];
    }
}
