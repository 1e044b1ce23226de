// https://github.com/NVlabs/cuda-oxide/issues/619
// Memory is freed in the stream that it was allocated in, while a kernel in another one still uses it.
#include <cstdio>

__global__ void sum(const float *x, float *out, int n) {
  float total = 0;
  for (int i = 0; i < n; ++i) total += x[i];
  *out = total;
}

int main(int argc, char **) {
  const int n = 64;
  float h[n], *x, *out;
  for (float &value : h) value = 1;
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  cudaMalloc(&out, sizeof(float));
  cudaMallocAsync(&x, sizeof h, first);
  cudaMemcpyAsync(x, h, sizeof h, cudaMemcpyHostToDevice, first);
  cudaStreamSynchronize(first);
  sum<<<1, 1, 0, second>>>(x, out, n);
  if (argc > 1) {
    cudaEvent_t used;
    cudaEventCreate(&used);
    cudaEventRecord(used, second);
    cudaStreamWaitEvent(first, used);
    cudaEventDestroy(used);
  }
  cudaFreeAsync(x, first);  // BUG
  cudaDeviceSynchronize();
  cudaMemcpy(h, out, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", h[0]);
  cudaFree(out);
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
}
