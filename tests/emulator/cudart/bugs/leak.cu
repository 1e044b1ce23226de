// Never frees one of two arrays.
int main() {
    float *d_a, *d_b;
    cudaMalloc(&d_a, 4096);
    cudaMalloc(&d_b, 8192);  // BUG
    cudaFree(d_a);
}
