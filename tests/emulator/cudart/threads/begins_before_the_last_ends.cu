// https://github.com/NVIDIA/cutlass/issues/2760
// Launched to begin while the kernel before it still runs, and without cudaGridDependencySynchronize().
#include <cstdio>

__global__ void produce(float *x) {
  x[threadIdx.x] = float(threadIdx.x);
  cudaTriggerProgrammaticLaunchCompletion();
}

template <bool CURED>
__global__ void consume(const float *x, float *y) {
  if (CURED) cudaGridDependencySynchronize();
  y[threadIdx.x] = 2 * x[threadIdx.x];
}

int main(int argc, char **) {
  float *x, *y, last;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  produce<<<1, 64, 0, stream>>>(x);
  cudaLaunchAttribute early;
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 64;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, argc > 1 ? consume<true> : consume<false>, (const float *)x, y);  // BUG
  cudaStreamSynchronize(stream);
  cudaMemcpy(&last, y + 63, sizeof last, cudaMemcpyDeviceToHost);
  std::printf("%g\n", last);
  cudaFree(x);
  cudaFree(y);
  cudaStreamDestroy(stream);
}
