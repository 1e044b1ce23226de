// PRINTS: threshold 4096, other device refused 1, sum 96
#include "check.h"

__global__ void fill(int *x, int value) { x[threadIdx.x] = value; }

int main() {
    cudaMemPool_t pool;
    unsigned long long wanted = 4096, threshold = 0;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &wanted));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite};
    CHECK(cudaMemPoolSetAccess(pool, &access, 1));
    access.location.id = 1;
    bool other = cudaMemPoolSetAccess(pool, &access, 1) == cudaErrorInvalidDevice;
    cudaGetLastError();
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    int *a, *b, h[32], sum = 0;
    CHECK(cudaMallocAsync(&a, sizeof h, stream));
    CHECK(cudaMallocFromPoolAsync(&b, sizeof h, pool, stream));
    fill<<<1, 32, 0, stream>>>(a, 1);
    fill<<<1, 32, 0, stream>>>(b, 2);
    for (int *each : {a, b}) {
        CHECK(cudaMemcpyAsync(h, each, sizeof h, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        for (int value : h)
            sum += value;
        CHECK(cudaFreeAsync(each, stream));
    }
    CHECK(cudaMemPoolTrimTo(pool, 0));
    CHECK(cudaStreamDestroy(stream));
    printf("threshold %llu, other device refused %d, sum %d\n", threshold, other, sum);
}
