// https://github.com/ml-explore/mlx/issues/2267
// A grid has 65,535 blocks in y at most; of large arrays it is given more.
#include <cstdio>

__global__ void fill(float *x, int n, int blocks) {
  for (int block = blockIdx.x + blockIdx.y * gridDim.x; block < blocks; block += gridDim.x * gridDim.y) {
    const int i = block * blockDim.x + threadIdx.x;
    if (i < n) x[i] = float(i);
  }
}

int main(int argc, char **) {
  const int n = 65536, blocks = 65536;
  float *x, last;
  cudaMalloc(&x, n * sizeof(float));
  const dim3 grid = argc > 1 ? dim3(blocks / 128, 128) : dim3(1, blocks);
  fill<<<grid, 1>>>(x, n, blocks);  // BUG
  if (cudaGetLastError() == cudaSuccess) {
    cudaMemcpy(&last, x + n - 1, sizeof last, cudaMemcpyDeviceToHost);
    std::printf("%g\n", last);
  }
  cudaFree(x);
}
