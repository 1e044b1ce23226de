// Reads page-locked memory while the copy into it may be under way.
#include <cstdio>

__global__ void twice(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 2;
}

int main() {
    const int n = 1024;
    float *h_x, *d_x;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMallocHost(&h_x, n * sizeof(float));
    cudaMalloc(&d_x, n * sizeof(float));
    for (int i = 0; i < n; i++)
        h_x[i] = i;
    cudaMemcpyAsync(d_x, h_x, n * sizeof(float), cudaMemcpyHostToDevice, stream);
    twice<<<n / 256, 256, 0, stream>>>(d_x, n);
    cudaMemcpyAsync(h_x, d_x, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
    float last = h_x[n - 1];  // BUG
    cudaStreamSynchronize(stream);
    printf("%g\n", last);
    cudaFree(d_x);
    cudaFreeHost(h_x);
    cudaStreamDestroy(stream);
}
