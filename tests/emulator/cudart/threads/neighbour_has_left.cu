// https://github.com/facebookexperimental/triton/pull/1105
// A block of a cluster ends while the other still reads its shared memory.
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;

template <bool CURED>
__global__ void __cluster_dims__(2) swap_halves(const float *x, float *y) {
  __shared__ float half[32];
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  half[threadIdx.x] = x[rank * 32 + threadIdx.x];
  cluster.sync();
  y[rank * 32 + threadIdx.x] = cluster.map_shared_rank(half, rank ^ 1)[threadIdx.x];  // BUG
  if (CURED) cluster.sync();
}

int main(int argc, char **) {
  float h[64], *x, *y;
  for (int i = 0; i < 64; ++i) h[i] = float(i);
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&y, sizeof h);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  if (argc > 1) swap_halves<true><<<2, 32>>>(x, y);
  else swap_halves<false><<<2, 32>>>(x, y);
  cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
  std::printf("%g\n", h[0]);
  cudaFree(x);
  cudaFree(y);
}
