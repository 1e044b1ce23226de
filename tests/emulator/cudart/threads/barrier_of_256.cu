// https://github.com/deepseek-ai/FlashMLA/pull/57
// A named barrier for all 256 threads stands where one warp group of 128 comes by.
#include <cstdio>

__device__ void named_barrier(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");  // BUG
}

template <int THREADS>
__global__ void of_two_groups(float *out) {
  __shared__ float value[128];
  if (threadIdx.x < 128) {
    value[threadIdx.x] = float(threadIdx.x);
    named_barrier(1, THREADS);
    out[threadIdx.x] = value[127 - threadIdx.x];
  } else {
    out[threadIdx.x] = -1;
  }
}

int main(int argc, char **) {
  float *out, first;
  cudaMalloc(&out, 256 * sizeof(float));
  if (argc > 1) of_two_groups<128><<<1, 256>>>(out);
  else of_two_groups<256><<<1, 256>>>(out);
  if (cudaMemcpy(&first, out, sizeof first, cudaMemcpyDeviceToHost) == cudaSuccess) std::printf("%g\n", first);
  cudaFree(out);
}
