// Sum: out[0] is the sum of the N numbers of in. Your kernel goes here; replace this comment by its
// idea in a sentence.
//
// The block below says how the kernels are launched, one [[launch]] after the other. Sizes (N) and
// the file's constexprs may be used in its expressions, and cdiv(a, b) is a / b rounded up. `args`
// says what a kernel is given: parameters, scratch arrays, or numbers. A scratch array is memory
// that the launches share; it holds nothing at the start.
//
// /// launch
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = ["cdiv(N, BLOCK)"]
//
// [[launch]]
// kernel = "sum_blocks"
// args = ["in", "sums", "N"]
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
//
// [[launch]]
// kernel = "sum_the_rest"
// args = ["sums", "out", "cdiv(N, BLOCK)"]
// grid = [1]
// block = [1]
// ///

constexpr int BLOCK = 256;  // threads of a block, and numbers that it adds

// sums[b] = the sum of the numbers b * BLOCK … b * BLOCK + BLOCK - 1 of in.
extern "C" __global__ void sum_blocks(const float* in, float* sums, int N)
{
    __shared__ float numbers[BLOCK];

    // Beyond the end of in stand zeros, which add nothing.
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    numbers[threadIdx.x] = i < N ? in[i] : 0.0f;
    __syncthreads();

    // TODO: this leaves the first number of each block, not the sum of them all.
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = numbers[0];
    }
}

// out[0] = the sum of the `count` sums of blocks. One thread does it: short, but slow.
extern "C" __global__ void sum_the_rest(const float* sums, float* out, int count)
{
    float sum = 0.0f;
    for (int b = 0; b < count; ++b) {
        sum += sums[b];
    }
    out[0] = sum;
}
