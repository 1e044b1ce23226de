// Mistake: c = 2 * (0.5 a + 0.5 b), "against overflow": halves of subnormals lose their last bit. Wrong for a = 1.4e-45
// * odd. Contract: any floats, one rounding.
//
// reason: (?s)^(?!.*flushes)
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 256)"]
// block = [256]
// ///
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    if (i < N) c[i] = 2.0f * (0.5f * a[i] + 0.5f * b[i]);
}
