// A buffer frees its memory when it is moved from, and a helper of a header launches a kernel on it after that.
#include "buffer.cuh"
#include "fill.cuh"

int main()
{
    Buffer scores(256);
#ifndef CURED
    scores.release();
#endif
    fill_with(scores.data(), 256, 1.0f);
    cudaDeviceSynchronize();
}
