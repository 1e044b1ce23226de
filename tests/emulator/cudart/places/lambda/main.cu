// A lambda reads an array of which half was written, through a span, in a loop that another header has.
#include "for_each.cuh"
#include "span.cuh"

__global__ void scaled(Span<const float> in, Span<float> out, float factor)
{
    for_each(in.size(), [=](int i) {  // CALL 2: scaled
        const float x = factor;
        out[i] = x * in[i];  // FAULT uninitialised_global: scaled
    });
}

int main()
{
    const int n = 256;
#ifdef CURED
    const int written = n;
#else
    const int written = n / 2;
#endif
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(in, 0, written * sizeof(float));
    scaled<<<1, 64>>>({in, n}, {out, n}, 2.0f);  // LAUNCH: scaled
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
