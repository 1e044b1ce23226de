// No guard: the last block writes beyond the array.
__global__ void fill(float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 1;  // BUG
}

int main() {
    const int n = 1000;
    float *d_out;
    cudaMalloc(&d_out, n * sizeof(float));
    fill<<<(n + 255) / 256, 256>>>(d_out, n);
    cudaDeviceSynchronize();
    cudaFree(d_out);
}
