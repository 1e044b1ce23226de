// Copies back more than the host has room for.
#include <vector>

int main() {
    const int n = 1000;
    std::vector<float> h_x(n / 2);
    float *d_x;
    cudaMalloc(&d_x, n * sizeof(float));
    cudaMemset(d_x, 0, n * sizeof(float));
    cudaMemcpy(h_x.data(), d_x, n * sizeof(float), cudaMemcpyDeviceToHost);  // BUG
    cudaFree(d_x);
}
