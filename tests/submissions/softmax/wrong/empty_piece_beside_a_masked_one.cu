// Mistake: a row goes in pieces of 1280, N / 1280 + 1 of them, the last one may be empty. Its maximum is -inf, and so may be
// that of a masked piece before; two such are merged by exp(-inf - -inf). Wrong where N is a multiple of 1280 and the last
// 1280 elements are all -inf (a padded row). The contract: any N, -inf as mask.
//
// /// launch
// [[launch]]
// kernel = "softmax"
// grid = ["M"]
// block = [256]
// ///
constexpr float LOWEST = -3.402823466e38f;
struct Pair { float maximum, sum; };
__device__ Pair merged(Pair a, Pair b)
{
    const float larger = fmaxf(a.maximum, b.maximum);
    return {larger, a.sum * expf(a.maximum - larger) + b.sum * expf(b.maximum - larger)};
}
__device__ Pair all(Pair p, Pair* parts)
{
    for (int d = 16; d > 0; d /= 2)
        p = merged(p, {__shfl_xor_sync(0xffffffff, p.maximum, d), __shfl_xor_sync(0xffffffff, p.sum, d)});
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = p;
    __syncthreads();
    p = parts[0];
    for (int i = 1; i < 8; ++i) p = merged(p, parts[i]);
    return p;
}
extern "C" __global__ void softmax(const float* __restrict__ in, float* __restrict__ out, int M, int N)
{
    __shared__ Pair parts[8];
    const float* const x = in + size_t(blockIdx.x) * N;
    float* const y = out + size_t(blockIdx.x) * N;
    Pair found = {LOWEST, 0.0f};
    Pair suffix = {-INFINITY, 0.0f};
    // from the back, so that the piece that was read last is still in the cache when the row is written from the front
    for (int piece = N / 1280; piece >= 0; --piece) {
        const int end = min(N, piece * 1280 + 1280);
        bool any = false;
        Pair own = {LOWEST, 0.0f};
        for (int c = piece * 1280 + threadIdx.x; c < end; c += 256) {
            own = merged(own, {x[c], 1.0f});
            any |= x[c] != -INFINITY;
        }
        own = all(own, parts);
        if (!__syncthreads_or(any)) own = {-INFINITY, 0.0f};  // nothing there
        if (piece == N / 1280) {
            suffix = own;
        } else if (piece == N / 1280 - 1 && suffix.sum == 0.0f && piece * 1280 + 1280 == N) {
            suffix = merged(suffix, own);
        } else {
            if (suffix.sum != 0.0f || suffix.sum != suffix.sum) found = merged(found, suffix);
            suffix = own;
        }
    }
    if (suffix.sum != 0.0f || suffix.sum != suffix.sum) found = merged(found, suffix);
    const float scale = 1.0f / found.sum;
    for (int c = threadIdx.x; c < N; c += 256) y[c] = expf(x[c] - found.maximum) * scale;
}
