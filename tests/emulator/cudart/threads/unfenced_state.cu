// https://github.com/MoonshotAI/FlashKDA/issues/24
// A bulk store reads shared memory that ordinary stores have written: __syncthreads() does not order the two proxies.
#include <cstdint>
#include <cstdio>

template <bool CURED>
__global__ void store_state(float *out) {
  __shared__ alignas(128) float state[64];
  state[threadIdx.x] = 0.5f * float(threadIdx.x);
  if (CURED) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    const uint32_t from = uint32_t(__cvta_generic_to_shared(state));
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 ::"l"(__cvta_generic_to_global(out)), "r"(from), "r"(256) : "memory");  // BUG
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
}

int main(int argc, char **) {
  float *out, last;
  cudaMalloc(&out, 64 * sizeof(float));
  if (argc > 1) store_state<true><<<1, 64>>>(out);
  else store_state<false><<<1, 64>>>(out);
  cudaMemcpy(&last, out + 63, sizeof last, cudaMemcpyDeviceToHost);
  std::printf("%g\n", last);
  cudaFree(out);
}
