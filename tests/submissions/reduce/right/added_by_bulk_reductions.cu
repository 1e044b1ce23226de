// Tiles of 2048 numbers come into shared memory by bulk copies and are added there and then to 2048 sums in global memory by
// cp.reduce.async.bulk; a second launch adds these up in double. No thread looks at a number of a whole tile.
//
// /// launch
// smallest_arch = "sm_90"
//
// [[scratch]]
// name = "sums"
// dtype = "float32"
// shape = [64, 2048]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "sums", "N"]
// grid = ["min(2 * SMS, cdiv(N, 2048))"]
// block = [32]
// zero = ["sums"]
//
// [[launch]]
// kernel = "finish"
// args = ["in", "sums", "out", "N"]
// grid = [1]
// block = [1024]
// ///
extern "C" __global__ void reduce(const float* in, float* sums, int N)
{
    __shared__ __align__(128) float tile[2048];
    __shared__ __align__(8) unsigned long long barrier;
    if (threadIdx.x != 0) return;
    const unsigned at = __cvta_generic_to_shared(&barrier), to = __cvta_generic_to_shared(tile);
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    unsigned parity = 0;
    for (int number = blockIdx.x; number < N / 2048; number += gridDim.x) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 8192;" ::"r"(at) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 8192, [%2];" ::"r"(to),
                     "l"(__cvta_generic_to_global(in + size_t(number) * 2048)), "r"(at)
                     : "memory");
        unsigned done = 0;
        while (!done)
            asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
                         : "=r"(done)
                         : "r"(at), "r"(parity)
                         : "memory");
        parity ^= 1;
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 8192;" ::"l"(
                         __cvta_generic_to_global(sums + size_t(blockIdx.x % 64) * 2048)),
                     "r"(to)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

extern "C" __global__ void finish(const float* in, const float* sums, float* out, int N)
{
    __shared__ double all[1024];
    double sum = 0.0;
    for (int i = threadIdx.x; i < 64 * 2048; i += 1024) sum += sums[i];
    for (int i = N / 2048 * 2048 + threadIdx.x; i < N; i += 1024) sum += in[i];
    all[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 512; half > 0; half /= 2) {
        if (threadIdx.x < half) all[threadIdx.x] += all[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = float(all[0]);
}
