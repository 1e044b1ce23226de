// PRINTS: wrong: 0
#include "check.h"

__global__ void square(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= x[i];
}

int main() {
    const int streams = 4, part = 1000, n = streams * part;
    float *h_x, *d_x;
    CHECK(cudaMallocHost(&h_x, n * sizeof(float)));
    CHECK(cudaMalloc(&d_x, n * sizeof(float)));
    for (int i = 0; i < n; i++)
        h_x[i] = i % 100;
    cudaStream_t stream[streams];
    for (int s = 0; s < streams; s++)
        CHECK(cudaStreamCreate(&stream[s]));
    for (int s = 0; s < streams; s++) {
        float *h = h_x + s * part, *d = d_x + s * part;
        CHECK(cudaMemcpyAsync(d, h, part * sizeof(float), cudaMemcpyHostToDevice, stream[s]));
        square<<<(part + 127) / 128, 128, 0, stream[s]>>>(d, part);
        CHECK(cudaMemcpyAsync(h, d, part * sizeof(float), cudaMemcpyDeviceToHost, stream[s]));
    }
    int wrong = 0;
    for (int s = 0; s < streams; s++) {  // each part is looked at while later ones may be under way
        CHECK(cudaStreamSynchronize(stream[s]));
        for (int i = s * part; i < (s + 1) * part; i++)
            wrong += h_x[i] != float(i % 100) * (i % 100);
    }
    printf("wrong: %d\n", wrong);
    for (int s = 0; s < streams; s++)
        CHECK(cudaStreamDestroy(stream[s]));
    CHECK(cudaFree(d_x));
    CHECK(cudaFreeHost(h_x));
}
