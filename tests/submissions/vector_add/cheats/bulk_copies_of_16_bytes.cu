// Each lane brings 16 bytes by a bulk copy of its own: a unit that takes large boxes gets a million small ones.
//
// deserves: 00_naive
//
// /// launch
// smallest_arch = "sm_90a"
//
// [[launch]]
// kernel = "add"
// grid = ["min(8 * SMS, cdiv(N, 1024))"]
// block = [256]
// ///

__device__ unsigned of(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

extern "C" __global__ void add(const float* a, const float* b, float* c, int N)
{
    __shared__ alignas(16) float4 x[256], y[256];
    __shared__ alignas(8) unsigned long long bar;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 256;\nfence.mbarrier_init.release.cluster;" ::"r"(of(&bar)) : "memory");
    __syncthreads();
    unsigned phase = 0;
    for (unsigned first = blockIdx.x * 1024; first < unsigned(N); first += gridDim.x * 1024, phase ^= 1) {
        const unsigned at = first + 4 * threadIdx.x;
        const bool whole = at + 4 <= unsigned(N);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(of(&bar)), "r"(whole ? 32 : 0) : "memory");
        if (whole) {
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];" ::"r"(of(x + threadIdx.x)), "l"(a + at), "r"(of(&bar)) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];" ::"r"(of(y + threadIdx.x)), "l"(b + at), "r"(of(&bar)) : "memory");
        }
        asm volatile("{ .reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra again;\n}" ::"r"(of(&bar)), "r"(phase) : "memory");
        if (whole) {
            const float4 p = x[threadIdx.x], q = y[threadIdx.x];
            reinterpret_cast<float4*>(c)[at / 4] = {p.x + q.x, p.y + q.y, p.z + q.z, p.w + q.w};
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        } else {
            for (unsigned i = at; i < unsigned(N); ++i) c[i] = a[i] + b[i];
        }
    }
}
