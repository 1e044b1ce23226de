// Launches a kernel on memory that has been given back.
__global__ void fill(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = i;
}

int main() {
    int n = 256, *d_x, *d_y;
    cudaMalloc(&d_x, n * sizeof(int));
    cudaFree(d_x);
    cudaMalloc(&d_y, n * sizeof(int));
    fill<<<1, 256>>>(d_x, n);  // BUG
    cudaDeviceSynchronize();
    cudaFree(d_y);
}
