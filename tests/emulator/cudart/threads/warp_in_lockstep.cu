// https://github.com/ORNL/HeCBench/issues/263
// The last warp of a reduction counts on lockstep: `volatile` orders no two lanes.
#include <cstdio>

__device__ void least(volatile int *all, int lane) {
  for (int step = 16; step > 0; step /= 2) all[lane] = min(all[lane], all[lane + step]);  // BUG
}

__device__ void least_in_order(int *all, int lane) {
  int mine = all[lane];
  for (int step = 16; step > 0; step /= 2) {
    mine = min(mine, all[lane + step]);
    __syncwarp();
    all[lane] = mine;
    __syncwarp();
  }
}

template <bool CURED>
__global__ void row_minimum(const int *x, int *out) {
  __shared__ int all[64];
  all[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x >= 32) return;
  if (CURED) least_in_order(all, threadIdx.x);
  else least(all, threadIdx.x);
  if (threadIdx.x == 0) *out = all[0];
}

int main(int argc, char **) {
  int h[64], *x, *out;
  for (int i = 0; i < 64; ++i) h[i] = i < 32 ? 200 - i : 300;
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&out, sizeof(int));
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  if (argc > 1) row_minimum<true><<<1, 64>>>(x, out);
  else row_minimum<false><<<1, 64>>>(x, out);
  cudaMemcpy(h, out, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", h[0]);
  cudaFree(x);
  cudaFree(out);
}
