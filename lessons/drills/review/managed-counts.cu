#include <cstdio>
#include <cstring>

__global__ void count_digits(const char *text, int n, int *counts)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && '0' <= text[i] && text[i] <= '9')
        atomicAdd(&counts[text[i] - '0'], 1);
}

int main(int argc, char **argv)
{
    const char *given = argc > 1 ? argv[1] : "31415926535";
    const int n = std::strlen(given);

    char *text;
    int *counts;
    cudaMallocManaged(&text, n);
    cudaMallocManaged(&counts, 10 * sizeof(int));
    std::memcpy(text, given, n);
    std::memset(counts, 0, 10 * sizeof(int));

    count_digits<<<(n + 127) / 128, 128>>>(text, n, counts);  //!

    for (int digit = 1; digit < 6; digit += 2)
        std::printf("%d:%d ", digit, counts[digit]);  //~
    std::printf("\n");

    cudaFree(text);
    cudaFree(counts);
}
