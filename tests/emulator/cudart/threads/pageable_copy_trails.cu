// https://github.com/ashalliants/ninfer-3090/pull/44
// cudaMemcpy from pageable memory returns once that is staged; a NonBlocking stream may read what has not arrived.
#include <cstdio>
#include <vector>

__global__ void twice(const float *x, float *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

int main(int argc, char **) {
  const int n = 1 << 18;
  std::vector<float> h(n, 1);
  float *x, *y;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, h.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  if (argc > 1) cudaStreamSynchronize(nullptr);
  twice<<<n / 256, 256, 0, stream>>>(x, y, n);  // BUG
  cudaStreamSynchronize(stream);
  cudaMemcpy(h.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", h[n - 1]);
  cudaFree(x);
  cudaFree(y);
  cudaStreamDestroy(stream);
}
