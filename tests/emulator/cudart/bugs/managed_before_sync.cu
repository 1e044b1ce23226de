// Reads managed memory while the kernel may still write it.
#include <cstdio>

__global__ void fill(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = i;
}

int main() {
    int n = 512, *x;
    cudaMallocManaged(&x, n * sizeof(int));
    fill<<<2, 256>>>(x, n);
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i];  // BUG
    cudaDeviceSynchronize();
    printf("%d\n", sum);
    cudaFree(x);
}
