#include <cstdio>
#include <vector>

struct Buffer {
    explicit Buffer(int n) : n(n) { cudaMalloc(&data, n * sizeof(float)); }
    ~Buffer() { cudaFree(data); }  //~

    void fill(const std::vector<float> &from)
    {
        cudaMemcpy(data, from.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    }
    std::vector<float> read() const
    {
        std::vector<float> to(n);
        cudaMemcpy(to.data(), data, n * sizeof(float), cudaMemcpyDeviceToHost);  //~
        return to;
    }

    int n;
    float *data = nullptr;
};

__global__ void add_kernel(const float *a, const float *b, float *sum, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sum[i] = a[i] + b[i];
}

void add(Buffer a, Buffer b, Buffer sum)  //!
{
    add_kernel<<<(sum.n + 255) / 256, 256>>>(a.data, b.data, sum.data, sum.n);
}

int main()
{
    const int n = 1332;
    std::vector<float> numbers(n), halves(n);
    for (int i = 0; i < n; i++) {
        numbers[i] = i;
        halves[i] = i / 2.0f;
    }
    Buffer a(n), b(n), sum(n);
    a.fill(numbers);
    b.fill(halves);
    add(a, b, sum);
    std::printf("last %g\n", sum.read().back());
}
