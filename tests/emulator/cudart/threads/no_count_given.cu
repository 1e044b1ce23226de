// https://github.com/risc0/risc0/issues/3803
// The grid is rounded up to whole blocks, and the kernel is not told how many elements there are.
#include <cstdio>

__global__ void reduce_mod(unsigned *x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n && i >= n) return;
  if (x[i] == 0xffffffff) x[i] = 0;  // BUG
}

int main(int argc, char **) {
  const int n = 90;
  unsigned h[n], *x;
  for (int i = 0; i < n; ++i) h[i] = i % 2 ? 0xffffffff : i;
  cudaMalloc(&x, sizeof h);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  reduce_mod<<<1, 128>>>(x, argc > 1 ? n : 0);
  cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
  std::printf("%u\n", h[89]);
  cudaFree(x);
}
