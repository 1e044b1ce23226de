// PRINTS: right: 4096 of 4096
// PRINTS: rows of 20 bytes: CUDA_ERROR_INVALID_VALUE, the runtime: no error
// A tensor map that the driver encodes, by a function found as libraries find it, and by its name.
#include "check.h"
#include <cuda.h>
#include <cuda/barrier>
#include <vector>

constexpr int size = 64, box = 32;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;

__global__ void doubled(const __grid_constant__ CUtensorMap in, float *out) {
    __shared__ alignas(128) float tile[box][box];
    __shared__ block_barrier barrier;
    if (threadIdx.x == 0) {
        init(&barrier, blockDim.x);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    block_barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cde::cp_async_bulk_tensor_2d_global_to_shared(tile, &in, blockIdx.x * box, blockIdx.y * box, barrier);
        token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof tile);
    } else {
        token = barrier.arrive();
    }
    barrier.wait(std::move(token));
    for (int row = 0; row < box; row++)
        out[(blockIdx.y * box + row) * size + blockIdx.x * box + threadIdx.x] = 2 * tile[row][threadIdx.x];
}

CUresult encode(decltype(&cuTensorMapEncodeTiled) function, CUtensorMap *map, float *data, cuuint32_t columns) {
    const cuuint64_t dims[] = {size, size}, strides[] = {size * sizeof(float)};
    const cuuint32_t extents[] = {columns, box}, steps[] = {1, 1};
    return function(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, data, dims, strides, extents, steps,
                    CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

int main() {
    std::vector<float> values(size * size), results(size * size);
    for (int i = 0; i < size * size; i++)
        values[i] = i;
    const size_t bytes = values.size() * sizeof(float);
    float *d_in, *d_out;
    CHECK(cudaMalloc(&d_in, bytes));
    CHECK(cudaMalloc(&d_out, bytes));
    CHECK(cudaMemcpy(d_in, values.data(), bytes, cudaMemcpyHostToDevice));

    void *found = nullptr;
    cudaDriverEntryPointQueryResult query;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &query));
    CUtensorMap map;
    if (query != cudaDriverEntryPointSuccess ||
        encode(reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found), &map, d_in, box) != CUDA_SUCCESS)
        return 1;

    doubled<<<dim3(size / box, size / box), box>>>(map, d_out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(results.data(), d_out, bytes, cudaMemcpyDeviceToHost));
    int right = 0;
    for (int i = 0; i < size * size; i++)
        right += results[i] == 2.0f * i;
    printf("right: %d of %d\n", right, size * size);

    const char *name;
    cuGetErrorName(encode(cuTensorMapEncodeTiled, &map, d_in, 5), &name);
    printf("rows of 20 bytes: %s, the runtime: %s\n", name, cudaGetErrorString(cudaGetLastError()));
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));
}
