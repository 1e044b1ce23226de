// Bulk copies bring both inputs, and an mbarrier says when they are there; another one takes the sums away.
//
// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, TILE)"]
// block = ["THREADS"]
// ///

constexpr int THREADS = 96, TILE = 1000;
extern "C" __global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                      int N)
{
    __shared__ __align__(128) float x[TILE], y[TILE];
    __shared__ unsigned long long barrier;
    const size_t first = size_t(blockIdx.x) * TILE;
    const int count = min(size_t(TILE), N - first), bulk = count / 4 * 4;
    const unsigned bar = __cvta_generic_to_shared(&barrier), xs = __cvta_generic_to_shared(x),
                   ys = __cvta_generic_to_shared(y);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bulk * 8) : "memory");
        if (bulk) {
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(xs),
                "l"(a + first), "r"(bulk * 4), "r"(bar)
                : "memory");
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(ys),
                "l"(b + first), "r"(bulk * 4), "r"(bar)
                : "memory");
        }
    }
    __syncthreads();
    asm volatile(
        "{\n.reg .pred p;\nL:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra L;\n}" ::"r"(bar)
        : "memory");
    for (int i = threadIdx.x; i < bulk; i += THREADS)
        x[i] += y[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0 && bulk) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(c + first), "r"(xs),
                     "r"(bulk * 4)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
    if (threadIdx.x < count - bulk)
        c[first + bulk + threadIdx.x] = a[first + bulk + threadIdx.x] + b[first + bulk + threadIdx.x];
}
