// A block of more threads than there can be.
__global__ void fill(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = i;
}

int main() {
    int n = 4096, *d_x;
    cudaMalloc(&d_x, n * sizeof(int));
    fill<<<2, 2048>>>(d_x, n);  // BUG
    cudaDeviceSynchronize();
    cudaFree(d_x);
}
