// PRINTS: 8 blocks of 256 threads, 1024 suggested, 42
#include "check.h"

__global__ void set(int *x) { *x = 42; }

int main() {
    int blocks = 0, least = 0, suggested = 0, *d_x, x = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, set, 256, 0));
    CHECK(cudaOccupancyMaxPotentialBlockSize(&least, &suggested, set, 0, 0));
    cudaStream_t first, second;
    cudaEvent_t done;
    CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    CHECK(cudaMallocAsync(&d_x, sizeof x, first));
    set<<<1, 1, 0, first>>>(d_x);
    CHECK(cudaEventRecord(done, first));
    CHECK(cudaStreamWaitEvent(second, done, 0));
    CHECK(cudaMemcpyAsync(&x, d_x, sizeof x, cudaMemcpyDeviceToHost, second));
    CHECK(cudaStreamSynchronize(second));
    printf("%d blocks of 256 threads, %d suggested, %d\n", blocks, suggested, x);
    CHECK(cudaFreeAsync(d_x, first));
    CHECK(cudaEventDestroy(done));
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
}
