// SAXPY as a whole program: y = a * x + y on the GPU, for N elements. Your part is main: the kernel is
// given, and so is what the host computes. The chapter "Host code" of the book explains each call.
//
//     ladder run main.cu 1000 2      runs it with N = 1000 and a = 2
//     ladder grade saxpy main.cu     judges it: with sizes drawn anew, and with calls that fail
//
// It prints two lines: a checksum of y, and the time that the kernel took. N may be anything from 0 on.

#include <cstdio>
#include <cstdlib>
#include <vector>

// TODO 1: a macro or a function that compares what a call of the CUDA runtime returns with cudaSuccess. If
// it differs, print cudaGetErrorString of it and the line, and end the program with std::exit(EXIT_FAILURE).
#define CHECK(call) call

// x and y have n elements each; y[i] = a * x[i] + y[i], one element a thread.
__global__ void saxpy(int n, float a, const float *x, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

// A sum in which every element has a weight of its own, so that their order counts.
double checksum(const std::vector<float> &y)
{
    double sum = 0;
    for (size_t i = 0; i < y.size(); i++)
        sum += (i % 31 + 1) * double(y[i]);
    return sum;
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
    const float a = argc > 2 ? std::atof(argv[2]) : 2;

    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; i++) {
        x[i] = i % 1000;
        y[i] = i % 7;
    }
    const size_t nbytes = n * sizeof(float);

    // TODO 2: memory of the GPU for x and for y: cudaMalloc.

    // TODO 3: copies of x and y there: cudaMemcpy. Sizes are in bytes.

    // TODO 4: two events, start and stop: cudaEventCreate. Record start before the launch and stop after it.

    // TODO 5: the launch, of one thread for each element, and of nothing where there are no elements:
    // saxpy<<<grid, block>>>(...). It returns nothing: ask cudaGetLastError() whether it failed.

    // TODO 6: wait for stop. Then copy y back, and get the time between the events: cudaEventElapsedTime.
    float ms = 0;

    std::printf("checksum %.0f\n", checksum(y));
    std::printf("time %g ms\n", ms);

    // TODO 7: destroy the events, and free the GPU's memory.
    return 0;
}
