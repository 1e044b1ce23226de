// https://github.com/pytorch/FBGEMM/pull/5831
// Threads behind the end return, and the rest wait for each other: on AMD's GPUs the block hangs.
#include <cstdio>

template <bool CURED>
__global__ void lengths(const int *x, int *out, int n) {
  __shared__ int total;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  if (!CURED && i >= n) return;
  if (i < n) atomicAdd(&total, x[i]);
  __syncthreads();  // BUG
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}

int main(int argc, char **) {
  const int n = 100;
  int h[n], *x, *out;
  for (int &value : h) value = 1;
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&out, 2 * sizeof(int));
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  if (argc > 1) lengths<true><<<2, 64>>>(x, out, n);
  else lengths<false><<<2, 64>>>(x, out, n);
  cudaMemcpy(h, out, 2 * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", h[0] + h[1]);
  cudaFree(x);
  cudaFree(out);
}
