// Work in two streams on the same memory, which nothing puts in order; with an argument, something does.
// A line that ends with "FIRST name" or "BUG name" has the two calls of a finding.
#include "programs/check.h"

const int n = 1024, bytes = n * sizeof(int);
bool cured;
int *d_x, *d_y, *h_pinned, h_pageable[n];
cudaStream_t one, two, apart;
cudaEvent_t event;

__global__ void fill(int *x, int value) { x[threadIdx.x] = value; }
__global__ void add(int *y, const int *x) { y[threadIdx.x] += x[threadIdx.x]; }
__global__ void colour(unsigned char *x, int which) { x[4 * threadIdx.x + which] += 1; }
__global__ void count(int *x) { atomicAdd(x, 1); }
__global__ void produce(int *x, volatile int *flag) {
    x[0] = 7;
    __threadfence();
    *flag = 1;
}
__global__ void consume(int *x, volatile int *flag) {
    while (*flag != 1)
        ;
    __threadfence();
    x[0] += 1;
}

template <bool WAITS>
__global__ void add_early(int *y, const int *x) {
    if (WAITS)
        cudaGridDependencySynchronize();
    y[threadIdx.x] += x[threadIdx.x];
}

// The cure: what follows in `later` waits for what is in `earlier`.
void order(cudaStream_t earlier, cudaStream_t later) {
    if (!cured)
        return;
    CHECK(cudaEventRecord(event, earlier));
    CHECK(cudaStreamWaitEvent(later, event, 0));
}

void kernel_kernel() {
    fill<<<1, n, 0, one>>>(d_x, 1);  // FIRST kernel_kernel
    order(one, two);
    add<<<1, n, 0, two>>>(d_y, d_x);  // BUG kernel_kernel
}

void kernel_copy() {
    fill<<<1, n, 0, one>>>(d_x, 1);  // FIRST kernel_copy
    if (cured)
        CHECK(cudaStreamSynchronize(one));
    CHECK(cudaMemcpyAsync(h_pinned, d_x, bytes, cudaMemcpyDeviceToHost, two));  // BUG kernel_copy
}

void copy_kernel() {
    CHECK(cudaMemcpyAsync(d_x, h_pinned, bytes, cudaMemcpyHostToDevice, one));  // FIRST copy_kernel
    order(one, two);
    add<<<1, n, 0, two>>>(d_y, d_x);  // BUG copy_kernel
}

void memset_kernel() {
    CHECK(cudaMemsetAsync(d_x, 0, bytes, one));  // FIRST memset_kernel
    if (cured)
        CHECK(cudaDeviceSynchronize());
    fill<<<1, n, 0, two>>>(d_x, 2);  // BUG memset_kernel
}

void copy_copy() {
    CHECK(cudaMemcpyAsync(d_x, h_pinned, bytes, cudaMemcpyHostToDevice, one));  // FIRST copy_copy
    order(one, two);
    CHECK(cudaMemcpyAsync(d_y, d_x + n / 2, bytes / 2, cudaMemcpyDeviceToDevice, two));  // BUG copy_copy
}

// A stream keeps to the order of the default stream; one that was made with cudaStreamNonBlocking does not.
void default_beside_non_blocking() {
    fill<<<1, n, 0, cured ? one : apart>>>(d_x, 1);  // FIRST non_blocking
    CHECK(cudaMemcpy(h_pageable, d_x, bytes, cudaMemcpyDeviceToHost));  // BUG non_blocking
}

// cudaMemset returns before the memory is set.
void non_blocking_behind_memset() {
    CHECK(cudaMemset(d_x, 0, bytes));  // FIRST memset
    fill<<<1, n, 0, cured ? one : apart>>>(d_x, 1);  // BUG memset
}

// The stream of a host's thread keeps to the order of the default stream, and to no other.
void per_thread() {
    fill<<<1, n, 0, cudaStreamPerThread>>>(d_x, 1);  // FIRST per_thread
    add<<<1, n, 0, cured ? cudaStreamLegacy : one>>>(d_y, d_x);  // BUG per_thread
}

// The event marks what is in the stream when it is recorded.
void recorded_too_early() {
    if (!cured)
        CHECK(cudaEventRecord(event, one));
    fill<<<1, n, 0, one>>>(d_x, 1);  // FIRST too_early
    if (cured)
        CHECK(cudaEventRecord(event, one));
    CHECK(cudaStreamWaitEvent(two, event, 0));
    add<<<1, n, 0, two>>>(d_y, d_x);  // BUG too_early
}

// The host's memory is used by the device as well.
void copies_by_way_of_the_host() {
    CHECK(cudaMemcpyAsync(h_pinned, d_x, bytes, cudaMemcpyDeviceToHost, one));  // FIRST pinned
    order(one, two);
    CHECK(cudaMemcpyAsync(d_y, h_pinned, bytes, cudaMemcpyHostToDevice, two));  // BUG pinned
}

void overlapping_rows() {
    const int half = bytes / 32 / 2;  // of 32 rows
    CHECK(cudaMemset2DAsync(d_x, 2 * half, 1, half + !cured, 32, one));  // FIRST rows
    CHECK(cudaMemset2DAsync((char *)d_x + half, 2 * half, 2, half, 32, two));  // BUG rows
}

// Each stream has a byte of four; without the cure, one reads them all.
void colours() {
    colour<<<1, n, 0, one>>>((unsigned char *)d_x, 0);  // FIRST colours
    if (cured)
        colour<<<1, n, 0, two>>>((unsigned char *)d_x, 1);
    else
        add<<<1, n, 0, two>>>(d_y, d_x);  // BUG colours
}

void allocated_in_another_stream() {
    int *d_z;
    CHECK(cudaMallocAsync(&d_z, bytes, one));  // FIRST allocated
    fill<<<1, n, 0, cured ? one : two>>>(d_z, 1);  // BUG allocated
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(d_z));
}

void freed_in_another_stream() {
    int *d_z;
    CHECK(cudaMalloc(&d_z, bytes));
    fill<<<1, n, 0, one>>>(d_z, 1);  // FIRST freed
    CHECK(cudaFreeAsync(d_z, cured ? one : two));  // BUG freed
}

// Nodes of a graph are in order by their dependencies, not as they were captured or added.
void launch(cudaGraph_t graph, cudaStream_t stream, cudaStream_t again) {
    cudaGraphExec_t launched;
    CHECK(cudaGraphInstantiate(&launched, graph, 0));
    CHECK(cudaGraphLaunch(launched, stream));
    if (again)
        CHECK(cudaGraphLaunch(launched, again));
    CHECK(cudaGraphExecDestroy(launched));
    CHECK(cudaGraphDestroy(graph));
}

void branches_of_a_capture() {
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(event, one));
    CHECK(cudaStreamWaitEvent(two, event, 0));
    fill<<<1, n, 0, one>>>(d_x, 1);  // FIRST captured
    order(one, two);
    add<<<1, n, 0, two>>>(d_y, d_x);  // BUG captured
    CHECK(cudaEventRecord(event, two));
    CHECK(cudaStreamWaitEvent(one, event, 0));
    CHECK(cudaStreamEndCapture(one, &graph));
    launch(graph, one, two);
}

void nodes_of_a_graph() {
    cudaGraph_t graph;
    cudaGraphNode_t copy, kernel;
    void *arguments[] = {&d_y, &d_x};
    cudaKernelNodeParams adding = {(void *)add, dim3(1), dim3(n), 0, arguments, nullptr};
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, d_x, h_pageable, bytes, cudaMemcpyDefault));  // FIRST nodes
    CHECK(cudaGraphAddKernelNode(&kernel, graph, &copy, cured, &adding));  // BUG nodes
    launch(graph, one, nullptr);
}

void a_graph_beside_a_stream() {
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeRelaxed));
    fill<<<1, n, 0, one>>>(d_x, 1);  // FIRST launched
    CHECK(cudaStreamEndCapture(one, &graph));
    launch(graph, one, nullptr);
    order(one, two);
    add<<<1, n, 0, two>>>(d_y, d_x);  // BUG launched
}

// A launch that need not wait for the kernel before it: its kernel has to.
void launch_early(cudaStream_t stream, bool waits) {
    cudaLaunchAttribute early;
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {dim3(1), dim3(n), 0, stream, &early, 1};
    CHECK(cudaLaunchKernelEx(&config, waits ? add_early<true> : add_early<false>, d_y, (const int *)d_x));  // BUG early
}

void early() {
    fill<<<1, n, 0, one>>>(d_x, 1);  // FIRST early
    launch_early(one, cured);
}

// Of memory that is ordered by streams, cudaFree waits for nothing.
void freed_at_once() {
    int *d_z;
    CHECK(cudaMallocAsync(&d_z, bytes, one));
    fill<<<1, n, 0, one>>>(d_z, 1);  // FIRST at_once
    if (cured)
        CHECK(cudaStreamSynchronize(one));
    CHECK(cudaFree(d_z));  // BUG at_once
}

// -- in order, or in need of none -----------------------------------------------------------------------------

void by_the_default_stream() {
    fill<<<1, n, 0, one>>>(d_x, 1);
    add<<<1, n>>>(d_y, d_x);
    fill<<<1, n, 0, two>>>(d_x, 2);
    CHECK(cudaMemcpyAsync(d_y, d_x, bytes, cudaMemcpyDeviceToDevice, cudaStreamLegacy));
    CHECK(cudaMemsetAsync(d_x, 0, bytes, one));
    fill<<<1, n, 0, one>>>(d_x, 3);
    CHECK(cudaMemcpy(h_pageable, d_x, bytes, cudaMemcpyDeviceToHost));
    fill<<<1, n, 0, apart>>>(d_x, 4);
}

void each_its_part() {
    fill<<<1, n / 2 + 1, 0, one>>>(d_x, 1);
    fill<<<1, n / 2 - 1, 0, two>>>(d_x + n / 2 + 1, 2);
    count<<<1, n, 0, one>>>(d_y);
    count<<<1, n, 0, two>>>(d_y);
}

void both_read() {
    fill<<<1, n>>>(d_x, 1);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpyAsync(h_pinned, d_x, bytes, cudaMemcpyDeviceToHost, apart));
    add<<<1, n, 0, one>>>(d_y, d_x);
}

void from_pageable_memory() {
    CHECK(cudaMemcpyAsync(d_x, h_pageable, bytes, cudaMemcpyHostToDevice, one));
    add<<<1, n, 0, apart>>>(d_y, d_x);
}

void by_an_event_that_is_used_again() {
    cudaEvent_t each;
    CHECK(cudaEventCreateWithFlags(&each, cudaEventDisableTiming));
    fill<<<1, n, 0, one>>>(d_x, 1);
    CHECK(cudaEventRecord(each, one));
    CHECK(cudaStreamWaitEvent(apart, each, 0));
    CHECK(cudaEventRecord(each, two));
    add<<<1, n, 0, apart>>>(d_y, d_x);
    CHECK(cudaEventRecord(each, apart));
    CHECK(cudaEventSynchronize(each));
    CHECK(cudaEventDestroy(each));
    fill<<<1, n, 0, two>>>(d_x, 2);
}

void by_a_stream_that_is_gone() {
    cudaStream_t gone;
    CHECK(cudaStreamCreate(&gone));
    fill<<<1, n, 0, gone>>>(d_x, 1);
    CHECK(cudaStreamDestroy(gone));
    add<<<1, n>>>(d_y, d_x);
}

void by_a_flag() {
    produce<<<1, 1, 0, one>>>(d_x, d_y);
    consume<<<1, 1, 0, two>>>(d_x, d_y);
}

// Only the kernel right before it a launch may overtake, and not behind a wait of the host.
void early_behind_others() {
    fill<<<1, n, 0, one>>>(d_x, 1);
    CHECK(cudaStreamSynchronize(one));
    launch_early(one, false);
    CHECK(cudaDeviceSynchronize());
    fill<<<1, n, 0, two>>>(d_x, 2);
    CHECK(cudaMemsetAsync(d_x, 0, 4, two));
    launch_early(two, false);
    CHECK(cudaDeviceSynchronize());
    fill<<<1, n, 0, one>>>(d_x, 3);
    count<<<1, 1>>>(d_y);
    launch_early(one, false);
    fill<<<1, n, 0, one>>>(d_x, 4);
}

int main(int argc, char **) {
    cured = argc > 1;
    CHECK(cudaMalloc(&d_x, bytes));
    CHECK(cudaMalloc(&d_y, bytes));
    CHECK(cudaMallocHost(&h_pinned, bytes));
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreate(&two));
    CHECK(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&event));
    CHECK(cudaMemset(d_y, 0, bytes));
    void (*cases[])() = {
        kernel_kernel, kernel_copy, copy_kernel, memset_kernel, copy_copy, default_beside_non_blocking,
        non_blocking_behind_memset, per_thread, recorded_too_early, copies_by_way_of_the_host, overlapping_rows, colours,
        allocated_in_another_stream, freed_in_another_stream, branches_of_a_capture, nodes_of_a_graph,
        a_graph_beside_a_stream, early, freed_at_once, early_behind_others, by_the_default_stream, each_its_part,
        both_read, from_pageable_memory, by_an_event_that_is_used_again, by_a_stream_that_is_gone, by_a_flag,
    };
    for (auto run : cases) {
        run();
        CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaEventDestroy(event));
    for (cudaStream_t each : {one, two, apart})
        CHECK(cudaStreamDestroy(each));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
    CHECK(cudaFreeHost(h_pinned));
}
