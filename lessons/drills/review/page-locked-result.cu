#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void dot(const float *x, const float *y, float *result, int n)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += x[i] * y[i];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0)
        atomicAdd(result, sum);
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
    const size_t nbytes = n * sizeof(float);
    std::vector<float> x(n, 1.5f), y(n, 2.0f);

    float *d_x, *d_y, *d_result, *result;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMalloc(&d_x, nbytes);
    cudaMalloc(&d_y, nbytes);
    cudaMalloc(&d_result, sizeof(float));
    cudaMallocHost(&result, sizeof(float));

    cudaMemcpyAsync(d_x, x.data(), nbytes, cudaMemcpyHostToDevice, stream);
    cudaMemcpyAsync(d_y, y.data(), nbytes, cudaMemcpyHostToDevice, stream);
    cudaMemsetAsync(d_result, 0, sizeof(float), stream);
    dot<<<16, 128, 0, stream>>>(d_x, d_y, d_result, n);
    cudaMemcpyAsync(result, d_result, sizeof(float), cudaMemcpyDeviceToHost, stream);  //!
    std::printf("dot %g\n", *result);  //~

    cudaFreeHost(result);
    cudaFree(d_result);
    cudaFree(d_y);
    cudaFree(d_x);
    cudaStreamDestroy(stream);
}
