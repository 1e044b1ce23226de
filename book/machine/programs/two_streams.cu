// Adds two vectors in two halves, each in a stream of its own, so that one half is copied while the other is computed.

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

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

__global__ void vector_add(const float *a, const float *b,
                           float *c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
    const size_t nbytes = n * sizeof(float);

    // --- Page-locked memory
    float *a, *b, *c;
    CHECK(cudaMallocHost(&a, nbytes));
    CHECK(cudaMallocHost(&b, nbytes));
    CHECK(cudaMallocHost(&c, nbytes));
    for (int i = 0; i < n; i++) {
        a[i] = i;
        b[i] = 2 * i;
    }

    float *d_a, *d_b, *d_c;
    CHECK(cudaMalloc(&d_a, nbytes));
    CHECK(cudaMalloc(&d_b, nbytes));
    CHECK(cudaMalloc(&d_c, nbytes));

    // --- Two streams
    cudaStream_t streams[2];
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamCreate(&stream));

    // --- Enqueue
    const int half = (n + 1) / 2;
    for (int part = 0; part < 2; part++) {
        const int first = part * half;
        const int count = part ? n - half : half;
        const size_t size = count * sizeof(float);
        const cudaStream_t stream = streams[part];
        CHECK(cudaMemcpyAsync(d_a + first, a + first, size,
                              cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemcpyAsync(d_b + first, b + first, size,
                              cudaMemcpyHostToDevice, stream));
        vector_add<<<(count + 255) / 256, 256, 0, stream>>>(
            d_a + first, d_b + first, d_c + first, count);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyAsync(c + first, d_c + first, size,
                              cudaMemcpyDeviceToHost, stream));
    }

    // --- Wait for both
    for (cudaStream_t stream : streams)
        CHECK(cudaStreamSynchronize(stream));
    std::printf("c[%d] = %g\n", n - 1, c[n - 1]);

    // --- Clean up
    for (cudaStream_t stream : streams)
        CHECK(cudaStreamDestroy(stream));
    for (float *p : {d_a, d_b, d_c})
        CHECK(cudaFree(p));
    for (float *p : {a, b, c})
        CHECK(cudaFreeHost(p));
    return 0;
}
