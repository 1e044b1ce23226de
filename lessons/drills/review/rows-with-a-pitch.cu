#include <cstdio>
#include <numeric>
#include <vector>

// m has rows of `width` floats; a row begins `pitch` bytes behind the one before.
__global__ void twice(float *m, size_t pitch, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        float *row = m + y * pitch;  //!
        row[x] *= 2;  //~
    }
}

int main()
{
    const int width = 100, height = 2;
    std::vector<float> m(height * width);
    for (int y = 0; y < height; y++)
        std::iota(m.begin() + y * width, m.begin() + (y + 1) * width, 0.0f);

    float *d_m;
    size_t pitch;
    const size_t row_bytes = width * sizeof(float);
    cudaMallocPitch(&d_m, &pitch, row_bytes, height);
    cudaMemcpy2D(d_m, pitch, m.data(), row_bytes, row_bytes, height, cudaMemcpyHostToDevice);

    const dim3 block(32, 8);
    const dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    twice<<<grid, block>>>(d_m, pitch, width, height);

    cudaMemcpy2D(m.data(), row_bytes, d_m, pitch, row_bytes, height, cudaMemcpyDeviceToHost);
    cudaFree(d_m);
    std::printf("sum %g\n", std::accumulate(m.begin(), m.end(), 0.0));
}
