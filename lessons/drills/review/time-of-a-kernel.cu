#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                              \
    if (cudaError_t status = (call)) {                                           \
        std::fprintf(stderr, "%d: %s\n", __LINE__, cudaGetErrorString(status));  \
        std::exit(1);                                                            \
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
    CHECK(cudaMalloc(&d_x, nbytes));
    CHECK(cudaMalloc(&d_y, nbytes));
    CHECK(cudaMemcpy(d_x, x.data(), nbytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_y, y.data(), nbytes, cudaMemcpyHostToDevice));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));

    CHECK(cudaEventRecord(start));
    if (n > 0) {
        saxpy<<<(n + 255) / 256, 256>>>(n, a, d_x, d_y);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));  //!
    CHECK(cudaMemcpy(y.data(), d_y, nbytes, cudaMemcpyDeviceToHost));

    double checksum = 0;
    for (size_t i = 0; i < y.size(); i++) checksum += (i % 31 + 1) * double(y[i]);
    std::printf("checksum %.0f\n", checksum);
    std::printf("time %g ms\n", ms);
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
}
