// The block ends while the bulk store may still read its shared memory: cp.async.bulk.wait_group.read is missing.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, TILE)"]
// block = ["THREADS"]
// ///

constexpr int THREADS = 128, TILE = 1024;
extern "C" __global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                      int N)
{
    __shared__ __align__(128) float tile[TILE];
    const size_t first = size_t(blockIdx.x) * TILE;
    const int count = min(size_t(TILE), N - first);
    for (int i = threadIdx.x; i < count; i += THREADS)
        tile[i] = a[first + i] + b[first + i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const int bulk = count / 4 * 4;
    if (threadIdx.x == 0 && bulk) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(c + first),
                     "r"((unsigned)__cvta_generic_to_shared(tile)), "r"(bulk * 4)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
    if (threadIdx.x < count - bulk)
        c[first + bulk + threadIdx.x] = tile[bulk + threadIdx.x];
}
