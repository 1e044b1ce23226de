// Threads with a number form a coalesced group, whatever its size, which adds up with cg::reduce.
//
// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["min(2048, cdiv(N, 100))"]
// block = [100]
// zero = ["out"]
// ///

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>

namespace cg = cooperative_groups;

extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    __shared__ float total;
    if (threadIdx.x == 0) total = 0.0f;
    __syncthreads();
    const long long first = blockIdx.x * 100LL + threadIdx.x, stride = gridDim.x * 100LL;
    if (first < N) {
        double sum = 0.0;
        for (long long i = first; i < N; i += stride) sum += in[i];
        const cg::coalesced_group here = cg::coalesced_threads();
        const float of_group = cg::reduce(here, float(sum), cg::plus<float>());
        if (here.thread_rank() == 0) {
            cuda::atomic_ref<float, cuda::thread_scope_block> place(total);
            place.fetch_add(of_group, cuda::memory_order_relaxed);
        }
    }
    __syncthreads();
    if (threadIdx.x == 99) atomicAdd(out, total);
}
