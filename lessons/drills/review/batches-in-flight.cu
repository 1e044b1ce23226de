#include <cstdio>

constexpr int BATCH = 512;
constexpr int BATCHES = 8;

__global__ void add_up(const int *numbers, int n, int *sum)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(sum, numbers[i]);
}

int main()
{
    const int n = BATCH * BATCHES;
    int *batch, *d_numbers, *d_sum;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMallocHost(&batch, BATCH * sizeof(int));
    cudaMalloc(&d_numbers, n * sizeof(int));
    cudaMalloc(&d_sum, sizeof(int));
    cudaMemsetAsync(d_sum, 0, sizeof(int), stream);

    for (int b = 0; b < BATCHES; b++) {  //!
        for (int i = 0; i < BATCH; i++)
            batch[i] = b * BATCH + i;  //~
        cudaMemcpyAsync(d_numbers + b * BATCH, batch, BATCH * sizeof(int), cudaMemcpyHostToDevice, stream);  //!
    }
    add_up<<<(n + 255) / 256, 256, 0, stream>>>(d_numbers, n, d_sum);

    int sum = 0;
    cudaMemcpyAsync(&sum, d_sum, sizeof(int), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    std::printf("sum %d\n", sum);

    cudaFree(d_sum);
    cudaFree(d_numbers);
    cudaFreeHost(batch);
    cudaStreamDestroy(stream);
}
