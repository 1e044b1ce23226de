// Two layouts of a tile, of which if constexpr takes one: the padded one writes beyond an array without padding.
#include "transpose.cuh"

int main()
{
    float *in, *out;
    cudaMalloc(&in, 1024 * sizeof(float));
    cudaMalloc(&out, 1024 * sizeof(float));
    cudaMemset(in, 0, 1024 * sizeof(float));
    transpose<false><<<1, dim3(32, 8)>>>(in, out);
    transpose<true><<<1, dim3(32, 8)>>>(in, out);  // LAUNCH: transpose<true>
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
