// Memory that nobody has written, read by kernels and copied to the host; with an argument, it is set before.
// A line that ends with "BUG name" reads it first.
#include "programs/check.h"

#include <cub/cub.cuh>

const int n = 1000, bytes = n * sizeof(int);
bool cured;
int *d_x, *d_y, host[n];

__global__ void fill(int *x) { x[threadIdx.x] = threadIdx.x; }
__global__ void count(int *sum) {
    atomicAdd(sum, 1);  // BUG count
}
__global__ void histogram(const int *x, int *bins) {
    if (threadIdx.x < n)
        atomicAdd(&bins[x[threadIdx.x] % 10], 1);  // BUG histogram
}
__global__ void copy(int *y, const int *x) {
    y[threadIdx.x] = x[threadIdx.x];  // BUG copy
}
__global__ void tail(int *y, const int *x) {
    y[threadIdx.x] = x[threadIdx.x];  // BUG tail
}
__global__ void halo(int *y, const int *x) {
    if (threadIdx.x + 1 < n)
        y[threadIdx.x] = x[threadIdx.x] + x[threadIdx.x + 1];  // BUG halo
}
__global__ void accumulate(int *y) {
    y[threadIdx.x] += 1;  // BUG accumulate
}
__global__ void broadcast(int *y, const int *factor) {
    y[threadIdx.x] = *factor;  // BUG broadcast
}
__global__ void lock(int *mutex, int *sum) {
    while (atomicCAS(mutex, 0, 1) != 0)  // BUG lock
        ;
    __threadfence();
    *sum += 1;
    __threadfence();
    atomicExch(mutex, 0);
}
__global__ void wide(int4 *y, const int4 *x) {
    y[threadIdx.x] = x[threadIdx.x];  // BUG wide
}
__global__ void hollow(int *y) {
    y[threadIdx.x] += 1;  // BUG hollow
}
__global__ void bytewise(char *y, const char *x) {
    y[threadIdx.x] = x[threadIdx.x];  // BUG bytewise
}

// Not wrong: kernels that read nothing before it is written, or find what a part of which is set.
__global__ void in_place(int *x) {
    x[threadIdx.x] = 1;
    x[threadIdx.x] += 1;
}
__global__ void exchange(int *flag) { atomicExch(flag, 1); }
__global__ void rows(int4 *y, const int4 *x) { y[threadIdx.x] = x[threadIdx.x]; }
struct Padded { char first; double second; };
__global__ void padded(Padded *y, const Padded *x) { y[threadIdx.x] = x[threadIdx.x]; }
__global__ void set_padded(Padded *x) { x[threadIdx.x] = {1, 2.0}; }

// The cure.
void set(int *x, int count = n) {
    if (cured)
        CHECK(cudaMemset(x, 0, count * sizeof(int)));
}

void kernels() {
    CHECK(cudaMalloc(&d_x, bytes));
    fill<<<1, n>>>(d_x);
    set(d_y, 1);
    count<<<2, 64>>>(d_y);
    CHECK(cudaFree(d_y));

    CHECK(cudaMalloc(&d_y, 10 * sizeof(int)));
    set(d_y, 10);
    histogram<<<1, 1024>>>(d_x, d_y);
    CHECK(cudaFree(d_y));

    int *d_z;
    CHECK(cudaMalloc(&d_y, bytes));
    CHECK(cudaMalloc(&d_z, bytes));
    set(d_z);
    copy<<<1, n>>>(d_y, d_z);
    CHECK(cudaFree(d_z));

    CHECK(cudaMalloc(&d_z, bytes));
    CHECK(cudaMemcpy(d_z, host, cured ? bytes : bytes - 400, cudaMemcpyHostToDevice));
    tail<<<1, n>>>(d_y, d_z);
    CHECK(cudaFree(d_z));

    CHECK(cudaMalloc(&d_z, bytes));
    fill<<<1, cured ? n : n - 1>>>(d_z);
    halo<<<1, n>>>(d_y, d_z);
    CHECK(cudaFree(d_z));

    CHECK(cudaMalloc(&d_z, bytes));
    set(d_z);
    accumulate<<<1, n>>>(d_z);
    accumulate<<<1, n>>>(d_z);
    CHECK(cudaFree(d_z));

    CHECK(cudaMalloc(&d_z, sizeof(int)));
    set(d_z, 1);
    broadcast<<<1, n>>>(d_y, d_z);
    CHECK(cudaFree(d_z));

    CHECK(cudaMalloc(&d_z, sizeof(int)));
    set(d_z, 1);
    lock<<<4, 1>>>(d_z, d_y);
    CHECK(cudaFree(d_z));

    CHECK(cudaMallocAsync(&d_z, bytes, 0));
    set(d_z);
    wide<<<1, n / 4>>>((int4 *)d_y, (int4 *)d_z);
    CHECK(cudaFreeAsync(d_z, 0));

    int *raw = static_cast<int *>(malloc(bytes));
    for (int i = 0; i < (cured ? n : 10); i++)
        raw[i] = i;
    CHECK(cudaMalloc(&d_z, bytes));
    CHECK(cudaMemcpy(d_z, raw, bytes, cudaMemcpyHostToDevice));
    hollow<<<1, n>>>(d_z);
    CHECK(cudaFree(d_z));
    free(raw);

    CHECK(cudaMalloc(&d_z, bytes));
    set(d_z);
    bytewise<<<1, n>>>((char *)d_y, (char *)d_z);
    CHECK(cudaFree(d_z));
}

void copies() {
    int *d_out;
    CHECK(cudaMalloc(&d_out, bytes));
    if (cured)
        fill<<<1, 1>>>(d_out);  // the others may be of no use
    CHECK(cudaMemcpy(host, d_out, bytes, cudaMemcpyDeviceToHost));  // BUG to_host
    CHECK(cudaFree(d_out));
}

void not_wrong() {
    int *d_z, *d_w, *managed;
    size_t pitch;
    CHECK(cudaMalloc(&d_z, bytes));
    in_place<<<1, n>>>(d_z);
    CHECK(cudaFree(d_z));
    CHECK(cudaMalloc(&d_z, sizeof(int)));
    exchange<<<1, 1>>>(d_z);
    CHECK(cudaFree(d_z));
    int *results = new int[n];
    CHECK(cudaMalloc(&d_z, bytes));
    CHECK(cudaMemcpy(d_z, results, bytes, cudaMemcpyHostToDevice));
    fill<<<1, n>>>(d_z);
    CHECK(cudaMemcpy(results, d_z, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_z));
    delete[] results;
    CHECK(cudaMallocPitch(&d_z, &pitch, 9 * sizeof(int), 8));
    CHECK(cudaMallocPitch(&d_w, &pitch, 9 * sizeof(int), 8));
    CHECK(cudaMemcpy2D(d_z, pitch, host, 36, 36, 8, cudaMemcpyHostToDevice));
    rows<<<1, 3>>>((int4 *)d_w, (int4 *)d_z);
    CHECK(cudaMemcpy2D(host, 36, d_z, pitch, 36, 8, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_z));
    CHECK(cudaFree(d_w));
    Padded *d_p, *d_q;
    CHECK(cudaMalloc(&d_p, 32 * sizeof(Padded)));
    CHECK(cudaMalloc(&d_q, 32 * sizeof(Padded)));
    set_padded<<<1, 32>>>(d_p);
    padded<<<1, 32>>>(d_q, d_p);
    CHECK(cudaFree(d_p));
    CHECK(cudaFree(d_q));
    CHECK(cudaMallocManaged(&managed, bytes));
    for (int i = 0; i < n; i++)
        managed[i] = i;
    copy<<<1, n>>>(d_y, managed);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(managed));
    void *d_temporary = nullptr;
    size_t room = 0;
    CHECK(cudaMalloc(&d_z, bytes));
    for (int pass = 0; pass < 2; pass++) {
        CHECK(cub::DeviceScan::ExclusiveSum(d_temporary, room, d_x, d_z, n));
        if (!pass)
            CHECK(cudaMalloc(&d_temporary, room));
    }
    CHECK(cudaFree(d_temporary));
    CHECK(cudaFree(d_z));
}

int main(int count, char **) {
    cured = count > 1;
    CHECK(cudaMalloc(&d_y, sizeof(int)));
    kernels();
    copies();
    not_wrong();
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
}
