// Thirteen kernels with a fault each, in files of another depth.
#include <cooperative_groups.h>

#include "tiles.cuh"

__device__ __forceinline__ float first_of(const float *in)
{
    return in[blockDim.x * 1000];  // FAULT out_of_bounds: own_function
}

__global__ void own_function(const float *in, float *out)
{
    out[threadIdx.x] = first_of(in);  // CALL: own_function
}

__global__ void header_function(const float *in, float *out)
{
    store(out, threadIdx.x + 5000, in[0]);  // CALL: header_function
}

__global__ void template_function(const float *in, float *out)
{
    out[threadIdx.x] = Tile<float, 4>::load(in, threadIdx.x);  // CALL: template_function
}

__global__ void two_headers(const float *in, float *out)
{
    out[threadIdx.x] = gather(in, threadIdx.x);  // CALL 2: two_headers
}

__global__ void race_in_a_header(const float *in, float *out)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = neighbour(tile, in[threadIdx.x]);  // CALL: race_in_a_header OTHER CALL: race_in_a_header
}

__global__ void race_with_a_header(const float *in, float *out)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = 1.0f;
    __syncthreads();
    keep(tile, in[threadIdx.x]);  // CALL: race_with_a_header
    out[threadIdx.x] = tile[63 - threadIdx.x];  // OTHER: race_with_a_header
}

__global__ void unset_in_a_header(const float *in, float *out)
{
    __shared__ float tile[64];
    out[threadIdx.x] = half_filled(tile, in[threadIdx.x]);  // CALL: unset_in_a_header
}

__global__ void misaligned_in_a_template(const float *in, float *out)
{
    out[threadIdx.x] = Tile<float, 4>::wide(in + 1, threadIdx.x);  // CALL: misaligned_in_a_template
}

template <class F> __device__ void for_each(int n, F f)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        f(i);  // CALL: in_a_lambda
}

__global__ void in_a_lambda(const float *in, float *out)
{
    for_each(64, [=](int i) {  // CALL 2: in_a_lambda
        out[i + 6000] = in[i];  // FAULT out_of_bounds: in_a_lambda
    });
}

__global__ void behind_a_library(const float *in, float *out)
{
    auto block = cooperative_groups::this_thread_block();
    store(out, block.thread_rank() + 7000, in[0]);  // CALL: behind_a_library
}

__global__ void not_inlined(const float *in, float *out)
{
    out[threadIdx.x] = far_away(in, threadIdx.x);  // CALL: not_inlined
}

__global__ void barrier_in_a_header(const float *in, float *out)
{
    if (threadIdx.x < 16)
        wait_for_all();  // CALL: barrier_in_a_header
    out[threadIdx.x] = in[threadIdx.x];
}

__global__ void asserted_in_a_header(const float *in, float *out)
{
    out[threadIdx.x] = checked(in, threadIdx.x);  // CALL: asserted_in_a_header
}

int main()
{
    float *in, *out;
    cudaMalloc(&in, 1024 * sizeof(float));
    cudaMalloc(&out, 1024 * sizeof(float));
    cudaMemset(in, 0, 1024 * sizeof(float));
    void (*kernels[])(const float *, float *) = {
        own_function,     header_function,  template_function,        two_headers,
        race_in_a_header, race_with_a_header, unset_in_a_header, misaligned_in_a_template, in_a_lambda,
        behind_a_library, not_inlined,      barrier_in_a_header,      asserted_in_a_header};
    for (auto kernel : kernels)
        kernel<<<1, 64>>>(in, out);
    cudaFree(in);
    cudaFree(out);
}
