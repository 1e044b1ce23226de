#pragma once
#ifndef UNIT
#define UNIT 100
#endif

int shared_bytes_in_first(), shared_bytes_in_second();

inline int result_of(const int *p) {
    int result;
    cudaMemcpy(&result, p, sizeof result, cudaMemcpyDeviceToHost);
    return result;
}

template <typename Kernel> int shared_bytes(Kernel kernel) {
    cudaFuncAttributes found;
    cudaFuncGetAttributes(&found, kernel);
    return static_cast<int>(found.sharedSizeBytes);
}
