#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

__global__ void square(double *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= x[i];
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
    std::vector<double> x(n);
    std::iota(x.begin(), x.end(), 0.0);

    double *d_x;
    cudaMalloc(&d_x, n * sizeof(double));
    cudaMemcpy(d_x, x.data(), n, cudaMemcpyHostToDevice);  //!
    square<<<(n + 127) / 128, 128>>>(d_x, n);
    cudaMemcpy(x.data(), d_x, n * sizeof(double), cudaMemcpyDeviceToHost);
    cudaFree(d_x);

    std::printf("sum %.0f\n", std::accumulate(x.begin(), x.end(), 0.0));
}
