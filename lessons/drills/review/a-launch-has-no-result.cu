#include <cstdio>
#include <cstdlib>
#include <vector>

void check(cudaError_t status, int line)
{
    if (status != cudaSuccess) {
        std::fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(status));
        std::exit(1);
    }
}

__global__ void saxpy(int n, float a, const float *x, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
    const float a = argc > 2 ? std::atof(argv[2]) : 2;
    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; i++) x[i] = i % 1000, y[i] = i % 7;

    const size_t nbytes = n * sizeof(float);
    float *d_x, *d_y, ms = 0;
    cudaEvent_t start, stop;
    check(cudaMalloc(&d_x, nbytes), __LINE__);
    check(cudaMalloc(&d_y, nbytes), __LINE__);
    check(cudaEventCreate(&start), __LINE__);
    check(cudaEventCreate(&stop), __LINE__);
    check(cudaMemcpy(d_x, x.data(), nbytes, cudaMemcpyHostToDevice), __LINE__);
    check(cudaMemcpy(d_y, y.data(), nbytes, cudaMemcpyHostToDevice), __LINE__);

    check(cudaEventRecord(start), __LINE__);
    if (n > 0) saxpy<<<(n + 255) / 256, 256>>>(n, a, d_x, d_y);  //!
    check(cudaEventRecord(stop), __LINE__);
    check(cudaEventSynchronize(stop), __LINE__);

    check(cudaMemcpy(y.data(), d_y, nbytes, cudaMemcpyDeviceToHost), __LINE__);
    check(cudaEventElapsedTime(&ms, start, stop), __LINE__);
    double checksum = 0;
    for (size_t i = 0; i < y.size(); i++) checksum += (i % 31 + 1) * double(y[i]);
    std::printf("checksum %.0f\ntime %g ms\n", checksum, ms);

    check(cudaEventDestroy(start), __LINE__);
    check(cudaEventDestroy(stop), __LINE__);
    check(cudaFree(d_x), __LINE__);
    check(cudaFree(d_y), __LINE__);
}
