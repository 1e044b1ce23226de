#include <cstdio>
#include <vector>

__global__ void invert(unsigned char *picture, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        picture[y * width + x] = 255 - picture[y * width + x];
}

int main()
{
    const int width = 200, height = 100;
    std::vector<unsigned char> picture(width * height);
    for (int i = 0; i < width * height; i++)
        picture[i] = i % 120;

    unsigned char *d_picture;
    cudaMalloc(&d_picture, picture.size());
    cudaMemcpy(d_picture, picture.data(), picture.size(), cudaMemcpyHostToDevice);

    const dim3 block(64, 32);  //!
    const dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    invert<<<grid, block>>>(d_picture, width, height);  //~

    cudaMemcpy(picture.data(), d_picture, picture.size(), cudaMemcpyDeviceToHost);
    cudaFree(d_picture);

    long sum = 0;
    for (unsigned char grey : picture)
        sum += grey;
    std::printf("sum %ld\n", sum);
}
