// counts[k] = how often k occurs in x, whose numbers are 0 to 3.
//
// `zero` has counts set to 0 before the kernel runs.
//
// /// launch
// [[launch]]
// kernel = "atomic"
// grid = ["cdiv(N, 4)"]
// block = [4]
// zero = ["counts"]
// ///

extern "C" __global__ void atomic(const int* x, int* counts, int N)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        // BEGIN SOLUTION
        atomicAdd(&counts[x[i]], 1);
        // STARTER: // TODO: what if two threads find the same number?
        // STARTER: counts[x[i]] += 1;
        // END SOLUTION
    }
}
