// Adds two vectors on the GPU: c = a + b, for as many elements as the program's argument says.

#include <cstdio>
#include <cstdlib>
#include <vector>

// --- Errors
#define CHECK(call)                                    \
    do {                                               \
        const cudaError_t status = (call);             \
        if (status != cudaSuccess) {                   \
            std::fprintf(stderr, "%s:%d: %s\n",        \
                         __FILE__, __LINE__,           \
                         cudaGetErrorString(status));  \
            std::exit(EXIT_FAILURE);                   \
        }                                              \
    } while (0)

// --- Kernel
__global__ void vector_add(const float *a, const float *b,
                           float *c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main(int argc, char **argv)
{
    // --- Data
    const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
    std::vector<float> a(n), b(n), c(n);
    for (int i = 0; i < n; i++) {
        a[i] = i;
        b[i] = 2 * i;
    }

    // --- Allocate
    const size_t nbytes = n * sizeof(float);
    float *d_a, *d_b, *d_c;
    CHECK(cudaMalloc(&d_a, nbytes));
    CHECK(cudaMalloc(&d_b, nbytes));
    CHECK(cudaMalloc(&d_c, nbytes));

    // --- Copy in
    CHECK(cudaMemcpy(d_a, a.data(), nbytes,
                     cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, b.data(), nbytes,
                     cudaMemcpyHostToDevice));

    // --- Events
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));

    // --- Launch
    const int block = 256;
    const int grid = (n + block - 1) / block;
    CHECK(cudaEventRecord(start));
    vector_add<<<grid, block>>>(d_a, d_b, d_c, n);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(stop));

    // --- Wait
    CHECK(cudaEventSynchronize(stop));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, start, stop));

    // --- Copy back
    CHECK(cudaMemcpy(c.data(), d_c, nbytes,
                     cudaMemcpyDeviceToHost));
    std::printf("c[%d] = %g\n", n - 1, c[n - 1]);
    std::printf("%g ms\n", ms);

    // --- Clean up
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaFree(d_a));
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_c));
    return 0;
}
