// https://github.com/NVIDIA/cutlass/pull/2502
// As many groups may stay under way as were committed, so the wait waits for none.
#include <cstdio>
#include <cuda_pipeline.h>

template <int LEFT>
__global__ void pipelined(const float *x, float *y, int tiles) {
  __shared__ float stage[3][32];
  const int lane = threadIdx.x;
  for (int t = 0; t < 2; ++t) {
    __pipeline_memcpy_async(&stage[t][lane], x + t * 32 + lane, sizeof(float));
    __pipeline_commit();
  }
  for (int t = 0; t < tiles; ++t) {
    __pipeline_wait_prior(LEFT);
    __syncthreads();
    y[t * 32 + lane] = stage[t % 3][31 - lane];  // BUG
    if (t + 2 < tiles) __pipeline_memcpy_async(&stage[(t + 2) % 3][lane], x + (t + 2) * 32 + lane, sizeof(float));
    __pipeline_commit();
  }
}

int main(int argc, char **) {
  float h[8 * 32], *x, *y;
  for (int i = 0; i < 8 * 32; ++i) h[i] = float(i);
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&y, sizeof h);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  if (argc > 1) pipelined<1><<<1, 32>>>(x, y, 8);
  else pipelined<2><<<1, 32>>>(x, y, 8);
  cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
  std::printf("%g\n", h[0]);
  cudaFree(x);
  cudaFree(y);
}
