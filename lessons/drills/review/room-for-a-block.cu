#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

__global__ void reverse(int *numbers)
{
    extern __shared__ int kept[];
    const int last = blockDim.x - 1;
    kept[threadIdx.x] = numbers[threadIdx.x];  //~
    __syncthreads();
    numbers[threadIdx.x] = kept[last - threadIdx.x];  //~
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 5;
    if (n < 1 || n > 1024) {
        std::fprintf(stderr, "1 to 1024 numbers\n");
        return 1;
    }
    std::vector<int> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 0);

    int *d_numbers;
    cudaMalloc(&d_numbers, n * sizeof(int));
    cudaMemcpy(d_numbers, numbers.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    reverse<<<1, n, n>>>(d_numbers);  //!
    cudaMemcpy(numbers.data(), d_numbers, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(d_numbers);

    for (int number : numbers)
        std::printf("%d ", number);
    std::printf("\n");
}
