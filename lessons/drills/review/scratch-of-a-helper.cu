#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

constexpr int BLOCK = 128;

__global__ void add_up(const int *in, int *out, int n)
{
    __shared__ int numbers[BLOCK];
    int sum = 0;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        sum += in[i];  //~
    numbers[threadIdx.x] = sum;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            numbers[threadIdx.x] += numbers[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = numbers[0];
}

void sum(const int *d_numbers, int n, int *d_sum)
{
    const int blocks = (n + BLOCK - 1) / BLOCK;
    int *partial;
    cudaMalloc(&partial, blocks * sizeof(int));
    add_up<<<blocks, BLOCK>>>(d_numbers, partial, n);
    cudaFree(partial);  //!
    add_up<<<1, BLOCK>>>(partial, d_sum, blocks);  //~
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
    std::vector<int> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 1);

    int *d_numbers, *d_sum, result;
    cudaMalloc(&d_numbers, n * sizeof(int));
    cudaMalloc(&d_sum, sizeof(int));
    cudaMemcpy(d_numbers, numbers.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    sum(d_numbers, n, d_sum);
    cudaMemcpy(&result, d_sum, sizeof(int), cudaMemcpyDeviceToHost);
    std::printf("sum %d\n", result);
    cudaFree(d_numbers);
    cudaFree(d_sum);
}
