// SAXPY as a whole program: y = a * x + y on the GPU, for N elements. Run it as
//
//     ladder run answer.cu N A
//
// It prints a checksum of y, and the time that the kernel took.

#include <cstdio>
#include <cstdlib>
#include <vector>

// Ends the program if a call of the CUDA runtime has failed, and says where and why.
#define CHECK(call)                                                                                  \
    do {                                                                                             \
        const cudaError_t status = (call);                                                           \
        if (status != cudaSuccess) {                                                                 \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));     \
            std::exit(EXIT_FAILURE);                                                                 \
        }                                                                                            \
    } while (0)

// x and y have n elements each; y[i] = a * x[i] + y[i], one element a thread.
__global__ void saxpy(int n, float a, const float *x, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

// A sum in which every element has a weight of its own, so that their order counts.
double checksum(const std::vector<float> &y)
{
    double sum = 0;
    for (size_t i = 0; i < y.size(); i++)
        sum += (i % 31 + 1) * double(y[i]);
    return sum;
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
    const float a = argc > 2 ? std::atof(argv[2]) : 2;

    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; i++) {
        x[i] = i % 1000;
        y[i] = i % 7;
    }
    const size_t nbytes = n * sizeof(float);

    float *d_x, *d_y;
    CHECK(cudaMalloc(&d_x, nbytes));
    CHECK(cudaMalloc(&d_y, nbytes));

    CHECK(cudaMemcpy(d_x, x.data(), nbytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_y, y.data(), nbytes, cudaMemcpyHostToDevice));

    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));

    const int block = 256;
    const int grid = (n + block - 1) / block;
    CHECK(cudaEventRecord(start));
    if (grid > 0) {
        saxpy<<<grid, block>>>(n, a, d_x, d_y);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));

    CHECK(cudaMemcpy(y.data(), d_y, nbytes, cudaMemcpyDeviceToHost));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, start, stop));

    std::printf("checksum %.0f\n", checksum(y));
    std::printf("time %g ms\n", ms);

    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
    return 0;
}
