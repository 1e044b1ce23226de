// https://github.com/NVIDIA/numba-cuda-mlir/issues/143
// More than 48 KiB is asked for only where the dynamic part alone exceeds that; here the static one does it.
#include <cstdio>

__global__ void reverse(const float *x, float *y, int n) {
  extern __shared__ float floats[];
  __shared__ int count;
  if (threadIdx.x == 0) count = n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) floats[i] = x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = floats[count - 1 - i];
}

int main(int argc, char **) {
  static float h[12288];
  const int n = 12288, bytes = n * sizeof(float);
  float *x, *y;
  for (int i = 0; i < n; ++i) h[i] = float(i);
  cudaMalloc(&x, bytes);
  cudaMalloc(&y, bytes);
  cudaMemcpy(x, h, bytes, cudaMemcpyHostToDevice);
  const int limit = argc > 1 ? 0 : 48 * 1024;
  if (bytes > limit) cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  reverse<<<1, 256, bytes>>>(x, y, n);  // BUG
  if (cudaGetLastError() == cudaSuccess) {
    cudaMemcpy(h, y, bytes, cudaMemcpyDeviceToHost);
    std::printf("%g\n", h[0]);
  }
  cudaFree(x);
  cudaFree(y);
}
