// Points are loaded by the same functions in three places, and the compiler joins two of these: one of the arrays is too
// short.
#include "points.cuh"

__global__ void distances(Points a, Points b, bool swap, float *out)
{
    const int i = threadIdx.x;
    float3 p;
    if (swap)
        p = load_point(b, i);
    else
        p = load_point(a, i);
    const float3 q = load_point({a.x, b.y, b.z}, i);  // CALL 3: distances
    out[i] = distance(p, q);
}

int main()
{
    const int n = 32;
#ifdef CURED
    const int size = n;
#else
    const int size = n - 1;
#endif
    float *whole, *part, *out;
    cudaMalloc(&whole, n * sizeof(float));
    cudaMalloc(&part, size * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(whole, 0, n * sizeof(float));
    cudaMemset(part, 0, size * sizeof(float));
    distances<<<1, n>>>({whole, whole, whole}, {whole, whole, part}, false, out);  // LAUNCH: distances
    cudaDeviceSynchronize();
    cudaFree(whole);
    cudaFree(part);
    cudaFree(out);
}
