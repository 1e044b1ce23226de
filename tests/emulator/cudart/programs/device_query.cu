// PRINTS: 1 device: NVIDIA H200 (emulated), capability 9.0, 132 multiprocessors, warps of 32, 1024 threads a block
#include "check.h"

int main() {
    int count = 0, multiprocessors = 0, device = -1;
    cudaDeviceProp about;
    CHECK(cudaGetDeviceCount(&count));
    CHECK(cudaSetDevice(0));
    CHECK(cudaGetDevice(&device));
    CHECK(cudaGetDeviceProperties(&about, device));
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    if (cudaSetDevice(7) != cudaErrorInvalidDevice || cudaGetLastError() != cudaErrorInvalidDevice)
        return 3;
    int native = -1, linked = -1;
    CHECK(cudaDeviceGetAttribute(&native, cudaDevAttrHostNativeAtomicSupported, device));
    if (native != 0 || cudaDeviceGetP2PAttribute(&linked, cudaDevP2PAttrAccessSupported, 0, 1) != cudaErrorInvalidDevice ||
        cudaGetLastError() != cudaErrorInvalidDevice)
        return 4;
    cudaStreamAttrValue kept = {};
    kept.accessPolicyWindow.hitRatio = 1;
    CHECK(cudaStreamSetAttribute(0, cudaStreamAttributeAccessPolicyWindow, &kept));
    CHECK(cudaCtxResetPersistingL2Cache());
    printf("%d device: %s, capability %d.%d, %d multiprocessors, warps of %d, %d threads a block\n", count, about.name,
           about.major, about.minor, multiprocessors, about.warpSize, about.maxThreadsPerBlock);
}
