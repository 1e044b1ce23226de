// Names that CUDA 13 has no more, or warns of, and calls of the device that programs of that time make.
// PRINTS: 1980000 kHz, 3201000 kHz, overlap 1, mode 0, limit 0, 1D 268435456
// PRINTS: device 0 at 0000:00:00.0, found again 0, chosen 0
// PRINTS: banks of 1, cache 0, heap of 4096
// PRINTS: 3 1 4
#include <cstdio>
#include <cstring>

#include "check.h"

__global__ void copy(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x]; }

int main() {
    cudaDeviceProp prop = {};
    CHECK(cudaGetDeviceProperties(&prop, 0));
    const int clockRate = prop.clockRate;
    std::printf("%d kHz, %d kHz, overlap %d, mode %d, limit %d, 1D %d\n", clockRate, prop.memoryClockRate,
                prop.deviceOverlap, prop.computeMode, prop.kernelExecTimeoutEnabled, prop.maxTexture1DLinear);

    char name[16];
    int found = 5, chosen = 5;
    CHECK(cudaDeviceGetPCIBusId(name, sizeof name, 0));
    CHECK(cudaDeviceGetByPCIBusId(&found, name));
    CHECK(cudaChooseDevice(&chosen, &prop));
    std::printf("device 0 at %s, found again %d, chosen %d\n", name, found, chosen);
    if (cudaDeviceGetByPCIBusId(&found, "0000:07:00.0") != cudaErrorInvalidDevice ||
        cudaDeviceGetPCIBusId(name, 4, 0) != cudaErrorInvalidValue)
        return 1;
    cudaGetLastError();

    cudaSharedMemConfig banks;
    cudaFuncCache cache;
    std::size_t heap = 0;
    CHECK(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
    CHECK(cudaDeviceGetSharedMemConfig(&banks));
    CHECK(cudaFuncSetSharedMemConfig(copy, cudaSharedMemBankSizeFourByte));
    CHECK(cudaThreadSetCacheConfig(cudaFuncCachePreferNone));
    CHECK(cudaThreadGetCacheConfig(&cache));
    CHECK(cudaThreadSetLimit(cudaLimitMallocHeapSize, 4096));
    CHECK(cudaThreadGetLimit(&heap, cudaLimitMallocHeapSize));
    std::printf("banks of %d, cache %d, heap of %zu\n", banks, cache, heap);

    const int h_from[3] = {3, 1, 4};
    int h_to[3] = {}, *d_from, *d_to;
    cudaArray_t array;
    const cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
    CHECK(cudaMallocArray(&array, &ints, 3));
    CHECK(cudaMalloc(&d_from, sizeof h_from));
    CHECK(cudaMalloc(&d_to, sizeof h_from));
    CHECK(cudaMemcpyToArrayAsync(array, 0, 0, h_from, sizeof h_from, cudaMemcpyHostToDevice, 0));
    CHECK(cudaMemcpyFromArrayAsync(d_from, array, 0, 0, sizeof h_from, cudaMemcpyDeviceToDevice, 0));
    copy<<<1, 3>>>(d_to, d_from);
    CHECK(cudaGetLastError());
    CHECK(cudaThreadSynchronize());
    CHECK(cudaMemcpy(h_to, d_to, sizeof h_to, cudaMemcpyDeviceToHost));
    std::printf("%d %d %d\n", h_to[0], h_to[1], h_to[2]);
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(d_from));
    CHECK(cudaFree(d_to));
    CHECK(cudaThreadExit());
}
