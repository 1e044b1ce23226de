// The guard is a loop: every thread adds all elements.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 256)"]
// block = [256]
// ///

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    for (int i = 0; i < N; i++) {
        c[i] = a[i] + b[i];
    }
}
