// https://github.com/NVIDIA/TransformerEngine/pull/3417
// Bulk copies are waited for by the thread that issued them: the others write the tile while it is still read.
#include <cstdint>
#include <cstdio>

template <bool CURED>
__global__ void store_tiles(float *out, int tiles) {
  __shared__ alignas(128) float tile[64];
  for (int t = 0; t < tiles; ++t) {
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    if (CURED) __syncthreads();
    tile[threadIdx.x] = float(t);  // BUG
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      const uint32_t from = uint32_t(__cvta_generic_to_shared(tile));
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                   ::"l"(__cvta_generic_to_global(out + t * 64)), "r"(from), "r"(256) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

int main(int argc, char **) {
  float *out, last;
  cudaMalloc(&out, 4 * 64 * sizeof(float));
  if (argc > 1) store_tiles<true><<<1, 64>>>(out, 4);
  else store_tiles<false><<<1, 64>>>(out, 4);
  cudaMemcpy(&last, out + 64, sizeof last, cudaMemcpyDeviceToHost);
  std::printf("%g\n", last);
  cudaFree(out);
}
