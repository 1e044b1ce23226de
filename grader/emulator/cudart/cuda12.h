// Names as they were before CUDA 13, for programs that were written then. nvcc includes this first. What is marked as
// gone becomes a remark after the run.
#pragma once
#ifdef __cplusplus
#include <cuda_runtime.h>

#if CUDART_VERSION >= 13000
#define LADDER_GONE(instead) __attribute__((deprecated("gone since CUDA 13: " instead)))
#define LADDER_ASK(name) LADDER_GONE("cudaDeviceGetAttribute() with cudaDevAttr" name)

#if __cplusplus >= 201703L  // before, `cudaDeviceProp p = {0};` is no way to begin a structure with a base
// As long a name as the one that it stands for, so that the compiler's excerpts keep their columns.
struct cudaDevicePr12 : cudaDeviceProp {
    int clockRate LADDER_ASK("ClockRate");
    int deviceOverlap LADDER_GONE("asyncEngineCount");
    int kernelExecTimeoutEnabled LADDER_ASK("KernelExecTimeout");
    int computeMode LADDER_ASK("ComputeMode");
    int maxTexture1DLinear LADDER_ASK("MaxTexture1DLinearWidth");
    int memoryClockRate LADDER_ASK("MemoryClockRate");
    int singleToDoublePrecisionPerfRatio LADDER_ASK("SingleToDoublePrecisionPerfRatio");
    int cooperativeMultiDeviceLaunch LADDER_GONE("there is no such launch any more");
};

extern "C" __attribute__((weak)) int ladder_attribute(cudaDeviceAttr);  // the emulator's: no call of the program's

#pragma nv_diagnostic push
#pragma nv_diag_suppress 1444
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static inline cudaError_t cudaGetDeviceProperties(cudaDevicePr12 *p, int device) {
    *p = {};
    cudaError_t status = cudaGetDeviceProperties(static_cast<cudaDeviceProp *>(p), device);
    const struct {
        int *to;
        cudaDeviceAttr from;
    } more[] = {{&p->clockRate, cudaDevAttrClockRate},
                {&p->deviceOverlap, cudaDevAttrGpuOverlap},
                {&p->kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout},
                {&p->computeMode, cudaDevAttrComputeMode},
                {&p->maxTexture1DLinear, cudaDevAttrMaxTexture1DLinearWidth},
                {&p->memoryClockRate, cudaDevAttrMemoryClockRate},
                {&p->singleToDoublePrecisionPerfRatio, cudaDevAttrSingleToDoublePrecisionPerfRatio}};
    for (const auto &each : more)
        if (ladder_attribute)
            *each.to = ladder_attribute(each.from);
        else if (status == cudaSuccess)
            status = cudaDeviceGetAttribute(each.to, each.from, device);
    return status;
}
#pragma GCC diagnostic pop
#pragma nv_diagnostic pop
#define cudaDeviceProp cudaDevicePr12
#endif

LADDER_GONE("cudaDeviceSynchronize()") static inline cudaError_t cudaThreadSynchronize() {
    return cudaDeviceSynchronize();
}
LADDER_GONE("cudaDeviceReset()") static inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
LADDER_GONE("cudaDeviceSetLimit()") static inline cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value) {
    return cudaDeviceSetLimit(limit, value);
}
LADDER_GONE("cudaDeviceGetLimit()") static inline cudaError_t cudaThreadGetLimit(size_t *value, cudaLimit limit) {
    return cudaDeviceGetLimit(value, limit);
}
LADDER_GONE("cudaDeviceSetCacheConfig()") static inline cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) {
    return cudaDeviceSetCacheConfig(config);
}
LADDER_GONE("cudaDeviceGetCacheConfig()") static inline cudaError_t cudaThreadGetCacheConfig(cudaFuncCache *config) {
    return cudaDeviceGetCacheConfig(config);
}

#undef LADDER_ASK
#undef LADDER_GONE

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
