extern "C" __global__ void turn(const float* __restrict__ in, float* __restrict__ out)
{
    __shared__ float tile[32][33];
    const int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[y * 32 + x];
    __syncthreads();
    out[y * 32 + x] = tile[x][y];
}
