// The macro has no parentheses: what it is multiplied by takes its last term alone.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, BLOCK * PER_THREAD)"]
// block = ["BLOCK"]
// ///

constexpr int BLOCK = 128;
constexpr int PER_THREAD = 4;
#define GID blockIdx.x * blockDim.x + threadIdx.x

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const int start = GID * PER_THREAD;
    for (int j = 0; j < PER_THREAD; ++j) {
        const int i = start + j;
        if (i < N) {
            c[i] = a[i] + b[i];
        }
    }
}
