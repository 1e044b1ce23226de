// Reads device memory on the host.
#include <cstdio>

int main() {
    int *d_x;
    cudaMalloc(&d_x, 1024);
    cudaMemset(d_x, 0, 1024);
    printf("%d\n", d_x[3]);  // BUG
    cudaFree(d_x);
}
