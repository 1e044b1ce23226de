// What kernels ask of the system with pointers to freed memory, out of range or of another space; an argument says
// which of those that end the program, "cured" that none is wrong. A line that ends with "BUG name" does it.
#include "programs/check.h"

#include <cassert>
#include <cstring>

__device__ int table[4];
__constant__ float factors[4];

__global__ void copy_past_end(int *y, int count) {
    int x[4] = {count, 2, 3, 4};
    memcpy(y, x, count * sizeof(int));  // BUG copy_past_end
}
__global__ void set_past_end(int *y, int nbytes) {
    memset(y, 0, nbytes);  // BUG set_past_end
}
__global__ void after_free(int *y, bool cured) {
    int *p = (int *)malloc(64);
    p[0] = 3;
    if (cured)
        *y = p[0];
    free(p);
    if (!cured)
        *y = p[0];  // BUG after_free
}
__global__ void past_new(int i) {
    int *p = new int[16];
    p[i] = 1;  // BUG past_new
    delete[] p;
}
__device__ void add(int *p) {
    *p += 1;  // BUG to_function
}
__global__ void to_function(int *y, int i) {
    __shared__ int s[8];
    s[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 0)
        add(s + i);
    __syncthreads();
    y[threadIdx.x] = s[threadIdx.x];
}
__global__ void copy_to_global(int *y, bool cured) {
    __shared__ alignas(16) int s[4];
    const unsigned to = __cvta_generic_to_shared(cured ? s : y);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(y) : "memory");  // BUG copy_to_global
    asm volatile("cp.async.wait_all;" ::: "memory");
    if (cured)
        y[0] = s[1];
}
__global__ void matrix_of_global(int *y, bool cured) {
    __shared__ alignas(16) int s[32];
    s[threadIdx.x] = threadIdx.x;
    __syncwarp();
    const unsigned row = __cvta_generic_to_shared(cured ? s : y) + threadIdx.x % 8 * 16;
    unsigned x;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(x) : "r"(row));  // BUG matrix_of_global
    if (threadIdx.x < 8)
        y[threadIdx.x] = x;
}
__global__ void constants(float *y) { y[0] = factors[1] + table[2]; }

// What ends the kernel.
__global__ void text_without_end(int end) {
    __shared__ char text[8];
    memset(text, 'x', 8);
    if (end < 8)
        text[end] = 0;
    printf("[%s]\n", text);  // BUG text_without_end
}
__global__ void text_of_host(const char *text) {
    printf("%d %f [%s] %c %lld %x %p %5.2f %s\n", 1, 2.5, text, 'c', 1LL, 255, text, 1.5, "end");  // BUG text_of_host
}
__global__ void twice(bool cured) {
    int *p = (int *)malloc(64);
    free(p);
    if (!cured)
        free(p);  // BUG twice
}
__global__ void free_of_local(bool cured) {
    int a[4] = {cured};
    int *p = (int *)malloc(64);
    *p = a[threadIdx.x];
    free(cured ? p : a);  // BUG free_of_local
    if (!cured)
        free(p);
}
__global__ void asserted(const char *, int x) {
    assert(x == 0 && "x is zero");  // BUG asserted
}

int main(int, char **arguments) {
    const char *which = arguments[1];
    const bool cured = !strcmp(which, "cured");
    int *d_y;
    char *d_text;
    CHECK(cudaMalloc(&d_y, 16 * sizeof(int)));
    CHECK(cudaMemset(d_y, 0, 16 * sizeof(int)));
    CHECK(cudaMalloc(&d_text, 8));
    CHECK(cudaMemcpy(d_text, "device", 7, cudaMemcpyHostToDevice));
    if (cured || !strcmp(which, "accesses")) {
        const float host[5] = {1, 2, 3, 4, 5};
        float *d_factors;
        copy_past_end<<<1, 1>>>(d_y + 8, cured ? 4 : 5);
        set_past_end<<<1, 1>>>(d_y, cured ? 64 : 65);
        after_free<<<1, 1>>>(d_y, cured);
        past_new<<<1, 1>>>(cured ? 15 : 16);
        to_function<<<1, 8>>>(d_y, cured ? 7 : 8);
        copy_to_global<<<1, 1>>>(d_y, cured);
        matrix_of_global<<<1, 32>>>(d_y, cured);
        CHECK(cudaMemcpyToSymbol(table, host, 16));
        CHECK(cudaGetSymbolAddress((void **)&d_factors, factors));
        CHECK(cudaMemcpy(d_factors, host, 16, cudaMemcpyHostToDevice));
        constants<<<1, 1>>>((float *)d_y);
        if (!cured)
            cudaMemcpyToSymbol(factors, host, 20);  // BUG symbol
    }
    if (cured || !strcmp(which, "text_without_end"))
        text_without_end<<<1, 1>>>(cured ? 7 : 8);
    if (cured || !strcmp(which, "text_of_host"))
        text_of_host<<<1, 1>>>(cured ? d_text : "host");
    if (cured || !strcmp(which, "twice"))
        twice<<<1, 1>>>(cured);
    if (cured || !strcmp(which, "free_of_local"))
        free_of_local<<<1, 1>>>(cured);
    if (cured || !strcmp(which, "asserted"))
        asserted<<<1, 1>>>(d_text, cured ? 0 : 1);
    cudaDeviceSynchronize();
    cudaFree(d_y);
    cudaFree(d_text);
    return 0;
}
