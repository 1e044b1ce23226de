// https://github.com/deepseek-ai/DeepEP/pull/642
// A bulk load overwrites what threads have read, with a barrier in between but no fence of the proxies.
#include <cstdint>
#include <cstdio>

__device__ void load(const float *from, float *to, uint64_t *full) {
  const uint32_t at = uint32_t(__cvta_generic_to_shared(to)), barrier = uint32_t(__cvta_generic_to_shared(full));
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(barrier) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];"  // BUG
               ::"r"(at), "l"(__cvta_generic_to_global(from)), "r"(barrier) : "memory");
}

__device__ void wait(uint32_t barrier, int parity) {
  int done = 0;
  while (!done)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.s32 %0, 1, 0, p;\n}"
                 : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
}

template <bool CURED>
__global__ void sums(const float *x, float *y) {
  __shared__ alignas(128) float tile[32];
  __shared__ uint64_t full;
  const uint32_t barrier = uint32_t(__cvta_generic_to_shared(&full));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
  __syncthreads();
  float sum = 0;
  for (int t = 0; t < 4; ++t) {
    if (threadIdx.x == 0) load(x + 32 * t, tile, &full);
    wait(barrier, t % 2);
    sum += tile[threadIdx.x];
    if (CURED) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
  }
  y[threadIdx.x] = sum;
}

int main(int argc, char **) {
  float h[128], *x, *y;
  for (int i = 0; i < 128; ++i) h[i] = float(i);
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&y, 32 * sizeof(float));
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  if (argc > 1) sums<true><<<1, 32>>>(x, y);
  else sums<false><<<1, 32>>>(x, y);
  cudaMemcpy(h, y, 32 * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", h[0]);
  cudaFree(x);
  cudaFree(y);
}
