// Calls as they were before CUDA 13, for programs that were written then. nvcc includes this first.
#pragma once
#ifdef __cplusplus
#include <cuda_runtime.h>

#if CUDART_VERSION >= 13000
static inline cudaMemLocation ladder_location(int device) {
    cudaMemLocation where = {};
    where.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    where.id = device == cudaCpuDeviceId ? 0 : device;
    return where;
}

static inline cudaError_t cudaMemPrefetchAsync(const void *p, size_t n, int device, cudaStream_t stream = 0) {
    return cudaMemPrefetchAsync(p, n, ladder_location(device), 0, stream);
}

static inline cudaError_t cudaMemAdvise(const void *p, size_t n, cudaMemoryAdvise advice, int device) {
    return cudaMemAdvise(p, n, advice, ladder_location(device));
}
#endif
#endif
