// https://github.com/NVIDIA/cudf/issues/22284
// Page-locked staging goes back to its pool while the copy from it is under way, and the next one fills it.
#include <cstdio>

struct Pool {
  float *slots[2];
  int next = 0;
  Pool() {
    for (float *&slot : slots) cudaMallocHost(&slot, 64 * sizeof(float));
  }
  ~Pool() {
    for (float *slot : slots) cudaFreeHost(slot);
  }
};

void upload(Pool &pool, float *to, float value, cudaStream_t stream, bool cured) {
  float *staging = pool.slots[cured ? pool.next++ : 0];
  for (int i = 0; i < 64; ++i) staging[i] = value;  // BUG
  cudaMemcpyAsync(to, staging, 64 * sizeof(float), cudaMemcpyHostToDevice, stream);
}

int main(int argc, char **) {
  Pool pool;
  float *x, first;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMalloc(&x, 128 * sizeof(float));
  upload(pool, x, 1, stream, argc > 1);
  upload(pool, x + 64, 2, stream, argc > 1);
  cudaStreamSynchronize(stream);
  cudaMemcpy(&first, x, sizeof first, cudaMemcpyDeviceToHost);
  std::printf("%g\n", first);
  cudaFree(x);
  cudaStreamDestroy(stream);
}
