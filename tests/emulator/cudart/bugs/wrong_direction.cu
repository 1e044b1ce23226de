// Copies to the device and says that it copies to the host.
#include <cstdio>

int main() {
    float h_x[64] = {}, *d_x;
    cudaMalloc((void **)&d_x, sizeof h_x);
    cudaMemcpy(d_x, h_x, sizeof h_x, cudaMemcpyDeviceToHost);  // BUG
    cudaFree(d_x);
}
