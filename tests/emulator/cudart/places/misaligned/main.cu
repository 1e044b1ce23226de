// A matrix reads four values at once, and its rows are 66 values apart.
#include "matrix.cuh"

#ifdef CURED
constexpr int PITCH = 68;
#else
constexpr int PITCH = 66;
#endif

__global__ void row_sums(Matrix matrix, float *out)
{
    float sum = 0.0f;
    for (int column = 0; column < 64; column += 4) {
        const float4 x = matrix.four(threadIdx.x, column);  // CALL 2: row_sums
        sum += x.x + x.y + x.z + x.w;
    }
    out[threadIdx.x] = sum;
}

int main()
{
    float *data, *out;
    cudaMalloc(&data, 32 * PITCH * sizeof(float));
    cudaMalloc(&out, 32 * sizeof(float));
    cudaMemset(data, 0, 32 * PITCH * sizeof(float));
    row_sums<<<1, 32>>>(Matrix{data, PITCH}, out);  // LAUNCH: row_sums
    cudaDeviceSynchronize();
    cudaFree(data);
    cudaFree(out);
}
