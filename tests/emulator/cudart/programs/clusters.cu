// Launches in clusters, by cudaLaunchKernelEx and as the kernel declares them.
// PRINTS: clusters: 1
// PRINTS: 1000 1001 0 1 3000 3001 2000 2001
// PRINTS: 1000 1001 0 1
// PRINTS: 15
#include <cooperative_groups.h>
#include <cstdio>

#include "check.h"

namespace cg = cooperative_groups;

__device__ void exchange(int *out) {
    __shared__ int box[2];
    auto cluster = cg::this_cluster();
    box[threadIdx.x] = 1000 * blockIdx.x + threadIdx.x;
    cluster.sync();
    out[2 * blockIdx.x + threadIdx.x] = cluster.map_shared_rank(box, cluster.block_rank() ^ 1)[threadIdx.x];
    cluster.sync();
}

__global__ void chosen(int *out) { exchange(out); }
__global__ void __cluster_dims__(2, 1, 1) declared(int *out) { exchange(out); }
__global__ void rank_of_last(int *out) {
    if (blockIdx.x == gridDim.x - 1)
        *out = cg::this_cluster().block_rank();
}

template <typename Kernel> cudaError_t launch(Kernel kernel, int blocks, int cluster, int *out) {
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = 2;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, out);
}

void show(const int *d_out, int count) {
    int out[8];
    CHECK(cudaMemcpy(out, d_out, count * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; i++)
        std::printf("%d%c", out[i], i + 1 < count ? ' ' : '\n');
}

int main() {
    cudaDeviceProp has;
    CHECK(cudaGetDeviceProperties(&has, 0));
    std::printf("clusters: %d\n", has.clusterLaunch);
    int *out;
    CHECK(cudaMalloc(&out, 8 * sizeof(int)));
    CHECK(launch(chosen, 4, 2, out));
    show(out, 8);
    declared<<<2, 2>>>(out);
    CHECK(cudaGetLastError());
    show(out, 4);
    CHECK(cudaFuncSetAttribute(rank_of_last, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    CHECK(launch(rank_of_last, 16, 16, out));
    show(out, 1);
    CHECK(cudaFree(out));
}
