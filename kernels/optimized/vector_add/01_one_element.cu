// One thread for each element: neighbouring threads take neighbouring elements, and there are as many
// threads as there is work. Starting a thread costs next to nothing on a GPU.
//
// What it should buy: the 32 elements that a warp asks for are 128 bytes in a row, 4 full sectors
// where it was 32 sectors with 4 bytes used of each. Such a request is called coalesced. Reads and
// writes alike take an eighth of the sectors.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, BLOCK)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 256;  // threads of a block, and elements: a multiple of the warp's 32

// a, b and c have N elements each; c[i] = a[i] + b[i].
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;

    // The grid has whole blocks, so the last one has threads beyond the end. This guard keeps them
    // from touching memory there.
    if (i < N) {
        c[i] = a[i] + b[i];
    }
}
