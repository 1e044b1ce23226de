// PRINTS: pitch 512, sum 1770, last 59
#include "check.h"

__global__ void increment(int *x, size_t pitch, int columns) {
    int *row = (int *)((char *)x + blockIdx.x * pitch);
    if (threadIdx.x < columns)
        row[threadIdx.x] += 1;
}

int main() {
    const int rows = 5, columns = 12;
    int x[rows][columns], *d_x;
    for (int i = 0; i < rows * columns; i++)
        x[i / columns][i % columns] = i - 1;
    size_t pitch;
    CHECK(cudaMallocPitch(&d_x, &pitch, columns * sizeof(int), rows));
    CHECK(cudaMemset2D(d_x, pitch, 0, columns * sizeof(int), rows));
    CHECK(cudaMemcpy2D(d_x, pitch, x, sizeof x[0], sizeof x[0], rows, cudaMemcpyHostToDevice));
    increment<<<rows, 32>>>(d_x, pitch, columns);
    CHECK(cudaMemcpy2D(x, sizeof x[0], d_x, pitch, sizeof x[0], rows, cudaMemcpyDeviceToHost));
    int sum = 0;
    for (auto &row : x)
        for (int value : row)
            sum += value;
    printf("pitch %zu, sum %d, last %d\n", pitch, sum, x[rows - 1][columns - 1]);
    CHECK(cudaFree(d_x));
}
