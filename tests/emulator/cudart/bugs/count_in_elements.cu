// Gives the number of elements where cudaMemcpy wants bytes.
#include <cstdlib>

__global__ void increment(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
}

int main() {
    const int n = 1000;
    float *h_x = (float *)malloc(n * sizeof(float)), *d_x;
    for (int i = 0; i < n; i++)
        h_x[i] = i;
    cudaMalloc(&d_x, n * sizeof(float));
    cudaMemcpy(d_x, h_x, n, cudaMemcpyHostToDevice);  // BUG
    increment<<<4, 256>>>(d_x, n);
    cudaMemcpy(h_x, d_x, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d_x);
    free(h_x);
}
