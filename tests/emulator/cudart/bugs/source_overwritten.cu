// Fills the page-locked source of a copy again while the copy may be under way.
int main() {
    const int n = 1024;
    int *h_x, *d_x;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaHostAlloc(&h_x, n * sizeof(int), cudaHostAllocDefault);
    cudaMalloc(&d_x, 2 * n * sizeof(int));
    for (int part = 0; part < 2; part++) {
        for (int i = 0; i < n; i++)
            h_x[i] = part * n + i;  // BUG
        cudaMemcpyAsync(d_x + part * n, h_x, n * sizeof(int), cudaMemcpyHostToDevice, stream);
    }
    cudaStreamSynchronize(stream);
    cudaFree(d_x);
    cudaFreeHost(h_x);
    cudaStreamDestroy(stream);
}
