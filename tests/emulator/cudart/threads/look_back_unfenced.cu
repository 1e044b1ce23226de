// https://github.com/mitsuba-renderer/drjit-core/pull/152
// A block looks back at its predecessor's flag and then at its sum, and nothing keeps the two in order.
#include <cstdio>

template <bool CURED>
__global__ void running_sums(const int *x, volatile int *flags, int *sums) {
  if (threadIdx.x != 0) return;
  int before = 0;
  if (blockIdx.x > 0) {
    while (flags[blockIdx.x - 1] == 0) {}
    if (CURED) __threadfence();
    before = sums[blockIdx.x - 1];  // BUG
  }
  sums[blockIdx.x] = before + x[blockIdx.x];
  if (CURED) __threadfence();
  flags[blockIdx.x] = 1;
}

int main(int argc, char **) {
  int h[8] = {1, 2, 3, 4, 5, 6, 7, 8}, *x, *flags, *sums;
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&flags, sizeof h);
  cudaMalloc(&sums, sizeof h);
  cudaMemset(flags, 0, sizeof h);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  if (argc > 1) running_sums<true><<<8, 32>>>(x, flags, sums);
  else running_sums<false><<<8, 32>>>(x, flags, sums);
  cudaMemcpy(h, sums, sizeof h, cudaMemcpyDeviceToHost);
  std::printf("%d\n", h[7]);
  cudaFree(x);
  cudaFree(flags);
  cudaFree(sums);
}
