// PRINTS: sum 191209
#include "check.h"

__global__ void add(const int *a, const int *b, int *c, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns)
        c[row * columns + column] = a[row * columns + column] + b[row * columns + column];
}

int main() {
    const int rows = 37, columns = 53;
    static int a[rows * columns], b[rows * columns], c[rows * columns];
    for (int i = 0; i < rows * columns; i++) {
        a[i] = i % 100;
        b[i] = i % 99;
    }
    int *d_a, *d_b, *d_c;
    CHECK(cudaMalloc((void **)&d_a, sizeof a));
    CHECK(cudaMalloc((void **)&d_b, sizeof b));
    CHECK(cudaMalloc((void **)&d_c, sizeof c));
    CHECK(cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, b, sizeof b, cudaMemcpyHostToDevice));
    dim3 block(16, 16), grid((columns + 15) / 16, (rows + 15) / 16);
    add<<<grid, block>>>(d_a, d_b, d_c, rows, columns);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c, d_c, sizeof c, cudaMemcpyDeviceToHost));
    int sum = 0;
    for (int value : c)
        sum += value;
    printf("sum %d\n", sum);
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_c);
}
