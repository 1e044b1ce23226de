// https://github.com/NVIDIA/cuml/pull/6578
// The next row is written to shared memory while thread 0 still adds up the last one.
#include <cstdio>

template <bool CURED>
__global__ void row_sums(const float *x, float *sums, int rows) {
  __shared__ float part[64];
  for (int row = 0; row < rows; ++row) {
    part[threadIdx.x] = x[row * 64 + threadIdx.x];  // BUG
    __syncthreads();
    if (threadIdx.x == 0) {
      float sum = 0;
      for (int i = 0; i < 64; ++i) sum += part[i];
      sums[row] = sum;
    }
    if (CURED) __syncthreads();
  }
}

int main(int argc, char **) {
  static float h[4 * 64];
  float *x, *sums;
  for (float &value : h) value = float(&value - h);
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&sums, 4 * sizeof(float));
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  if (argc > 1) row_sums<true><<<1, 64>>>(x, sums, 4);
  else row_sums<false><<<1, 64>>>(x, sums, 4);
  cudaMemcpy(h, sums, 4 * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", h[3]);
  cudaFree(x);
  cudaFree(sums);
}
