// CUDA's own occupancy calculator, cuda_occupancy.h, asked for n configurations of eight integers each:
// compute capability (major, minor), and of a SM the most threads and bytes of shared memory; of a kernel registers,
// static and dynamic shared memory; threads of a block. `reserved` is what CUDA keeps in each block from 8.0 on.

#include <cuda_occupancy.h>

extern "C" __global__ void ask(const int* given, int* blocks, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int* g = given + 8 * i;
  int reserved = g[0] >= 8 ? 1024 : 0;

  cudaOccDeviceProp device;
  device.computeMajor = g[0];
  device.computeMinor = g[1];
  device.maxThreadsPerBlock = 1024;
  device.maxThreadsPerMultiprocessor = g[2];
  device.regsPerBlock = device.regsPerMultiprocessor = 65536;
  device.warpSize = 32;
  device.numSms = 1;
  device.sharedMemPerBlock = 48 * 1024;
  device.sharedMemPerMultiprocessor = g[3];
  device.sharedMemPerBlockOptin = g[3] - reserved;
  device.reservedSharedMemPerBlock = reserved;

  cudaOccFuncAttributes kernel;
  kernel.maxThreadsPerBlock = 1024;
  kernel.numRegs = g[4];
  kernel.sharedSizeBytes = g[5];
  kernel.maxDynamicSharedSizeBytes = g[6];
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  kernel.numBlockBarriers = 1;

  cudaOccDeviceState state;
  cudaOccResult result;
  cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, g[7], g[6]);
  blocks[i] = error == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -1;
}
