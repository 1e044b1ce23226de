// A cluster of 16 blocks, which a kernel has to be allowed to have.
__global__ void fill(int *x) { x[blockIdx.x] = 1; }

int main() {
    int *d_x;
    cudaMalloc(&d_x, 16 * sizeof(int));
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 16;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = 16;
    config.blockDim = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    if (cudaLaunchKernelEx(&config, fill, d_x) != cudaErrorInvalidClusterSize) // BUG
        return 1;
    cudaFree(d_x);
    return 2;
}
