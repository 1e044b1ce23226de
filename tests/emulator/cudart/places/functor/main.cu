// A shift by eight reads beyond the end, in a functor that a transform of any functor calls.
#include "ops/shift.cuh"
#include "transform.cuh"

int main()
{
    const int n = 1000;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(in, 0, n * sizeof(float));
    launch_transform(in, out, n, ops::Shift<float>{8, n});
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
