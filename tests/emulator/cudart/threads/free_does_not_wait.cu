// https://github.com/kokkos/kokkos/issues/9307
// cudaFree() is taken for a cudaDeviceSynchronize(): of memory of cudaMallocAsync() it waits for nothing.
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
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMalloc(&out, sizeof(float));
  cudaMallocAsync(&x, sizeof h, stream);
  cudaMemcpyAsync(x, h, sizeof h, cudaMemcpyHostToDevice, stream);
  sum<<<1, 1, 0, stream>>>(x, out, n);
  if (argc > 1) cudaStreamSynchronize(stream);
  cudaFree(x);  // BUG
  cudaStreamSynchronize(stream);
  cudaMemcpy(h, out, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", h[0]);
  cudaFree(out);
  cudaStreamDestroy(stream);
}
