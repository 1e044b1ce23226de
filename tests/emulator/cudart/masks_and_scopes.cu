// Masks that name other lanes than come, atomics of a narrower scope than the threads that meet, and flags in shared
// memory; with an argument, each is cured. A line that ends with "BUG name" does it.
#include "programs/check.h"

#include <cooperative_groups.h>
#include <cuda/atomic>

const unsigned whole = 0xffffffff;

// Masks.
__global__ void unnamed_barrier(int *y, unsigned mask) {
    __syncwarp(mask);  // BUG unnamed_barrier
    y[threadIdx.x] = 1;
}
__global__ void unnamed_vote(int *y, unsigned mask) {
    y[threadIdx.x] = __ballot_sync(mask, threadIdx.x & 1);  // BUG unnamed_vote
}
__global__ void half_at_barrier(int *y, int lanes) {
    if (threadIdx.x < lanes)
        __syncwarp();  // BUG half_at_barrier
    y[threadIdx.x] = 1;
}
__global__ void half_at_block_barrier(int *y, unsigned mask) {
    if (threadIdx.x < 16)
        __syncwarp(mask);  // BUG half_at_block_barrier
    __syncthreads();
    y[threadIdx.x] = 1;
}
__global__ void half_at_sum(unsigned *y, unsigned mask) {
    y[threadIdx.x] = 0;
    if (threadIdx.x < 16)
        y[threadIdx.x] = __reduce_add_sync(mask, threadIdx.x);  // BUG half_at_sum
    y[threadIdx.x] += 1;
}
__global__ void masks_by_lane(int *y, unsigned low) {
    const unsigned mask = threadIdx.x < 16 ? low : 0xffe00000;
    y[threadIdx.x] = 0;
    if (threadIdx.x < 16 || threadIdx.x > 20)
        y[threadIdx.x] = __any_sync(mask, threadIdx.x == 7);  // BUG masks_by_lane
    y[threadIdx.x] += 1;
}

// Not wrong: lanes that have left, tiles, warp-aggregated atomics, a barrier in each branch.
__global__ void left(int *y) {
    if (threadIdx.x >= 20)
        return;
    __syncwarp();
    y[threadIdx.x] = __ballot_sync(whole, 1);
}
__global__ void aggregated(int *count, int *y) {
    if (threadIdx.x % 3 == 0) {
        const unsigned mask = __activemask();
        const int leader = __ffs(mask) - 1;
        int first = 0;
        if (threadIdx.x == leader)
            first = atomicAdd(count, __popc(mask));
        y[threadIdx.x] = __shfl_sync(mask, first, leader) + __popc(mask & ((1u << threadIdx.x) - 1));
    } else {
        const auto group = cooperative_groups::coalesced_threads();
        int first = 0;
        if (group.thread_rank() == 0)
            first = atomicAdd(count, group.size());
        y[threadIdx.x] = group.shfl(first, 0) + group.thread_rank();
    }
}
__global__ void tiles(int *y) {
    const auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
    if (tile.meta_group_rank() % 2)
        y[threadIdx.x] = tile.shfl_xor(threadIdx.x, 1);
    if (threadIdx.x < 16)
        __syncwarp();
    else
        __syncwarp();
}

// Scopes: two blocks.
__global__ void count_in_block(int *count, bool cured) {
    if (threadIdx.x == 0) {
        if (cured)
            atomicAdd(count, 1);
        else
            atomicAdd_block(count, 1);  // BUG count_in_block
    }
}
__global__ void one_in_block(int *count, bool cured) {
    if (blockIdx.x == 0 && !cured)
        atomicAdd_block(count, 1);
    else
        atomicAdd(count, 1);  // BUG one_in_block
}
template <cuda::thread_scope scope> __global__ void ticket(int *count, int *y) {
    cuda::atomic_ref<int, scope> tickets(*count);
    if (threadIdx.x == 0)
        y[blockIdx.x] = tickets.fetch_add(1, cuda::memory_order_relaxed);  // BUG ticket
}
template <cuda::thread_scope scope> __global__ void wait(int *flag, int *data, int *y) {
    cuda::atomic_ref<int, scope> ready(*flag);
    if (blockIdx.x == 0) {
        *data = 7;
        ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0)  // BUG wait
            ;
        *y = *data;
    }
}
__global__ void last_block(int *count, int *parts, int *y, bool cured) {
    parts[blockIdx.x] = 1;
    if (cured)
        __threadfence();
    else
        __threadfence_block();
    if (atomicAdd(count, 1) == gridDim.x - 1) {
        if (cured)
            __threadfence();
        *y = parts[0] + parts[1];  // BUG last_block
    }
}

// Not wrong: what one block alone touches, in global and in shared memory, or another one only behind a fence.
__global__ void own(int *counts, int *total) {
    __shared__ int sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    atomicAdd_block(&counts[blockIdx.x], 1);
    cuda::atomic_ref<int, cuda::thread_scope_block>(sum).fetch_add(1);
    __syncthreads();
    __threadfence();
    if (threadIdx.x == 0 && atomicAdd(total, sum) == 32) {
        __threadfence();
        atomicAdd(&counts[1 - blockIdx.x], 1);
    }
}

// Several threads store to one word of shared memory.
__global__ void flag(int *y) {
    __shared__ bool found;
    __shared__ double half;
    if (threadIdx.x == 0)
        found = false;
    __syncthreads();
    if (threadIdx.x % 3 == 0)
        found = true;
    half = 0.5;
    __syncthreads();
    y[threadIdx.x] = found + half;
}
__global__ void two_warps(int *y, bool cured) {
    __shared__ int last;
    if (threadIdx.x % 32 == 0)
        last = cured ? 5 : threadIdx.x;  // BUG two_warps
    __syncthreads();
    y[threadIdx.x] = last;
}
__global__ void one_warp(int *y, bool cured) {
    __shared__ int last;
    if (threadIdx.x < 3)
        last = cured ? 5 : threadIdx.x;  // BUG one_warp
    __syncthreads();
    y[threadIdx.x] = last;
}
__global__ void read_beside(int *y, bool cured, int first, int second) {
    __shared__ int word;
    if (threadIdx.x == 0)
        word = first;
    __syncthreads();
    y[threadIdx.x] = word;
    if (cured)
        __syncthreads();
    if (threadIdx.x == 40)
        word = second;  // BUG read_beside
    __syncthreads();
    y[threadIdx.x] += word;
}

int main(int count, char **) {
    const bool cured = count > 1;
    int *d_y, *d_count;
    CHECK(cudaMalloc(&d_y, 64 * sizeof(int)));
    CHECK(cudaMalloc(&d_count, 8 * sizeof(int)));
    CHECK(cudaMemset(d_count, 0, 8 * sizeof(int)));
    unnamed_barrier<<<1, 32>>>(d_y, cured ? whole : 0xff00);
    unnamed_vote<<<1, 32>>>(d_y, cured ? whole : 0xffff);
    half_at_barrier<<<1, 32>>>(d_y, cured ? 32 : 16);
    half_at_block_barrier<<<1, 32>>>(d_y, cured ? 0xffff : 0x1ffff);
    half_at_sum<<<1, 32>>>((unsigned *)d_y, cured ? 0xffff : 0x30ffff);
    masks_by_lane<<<1, 32>>>(d_y, cured ? 0xffff : 0x1ffff);
    left<<<1, 32>>>(d_y);
    aggregated<<<1, 32>>>(d_count, d_y);
    tiles<<<1, 32>>>(d_y);

    count_in_block<<<2, 32>>>(d_count, cured);
    one_in_block<<<2, 1>>>(d_count, cured);
    CHECK(cudaMemset(d_count, 0, 8 * sizeof(int)));
    if (cured) {
        ticket<cuda::thread_scope_device><<<2, 32>>>(d_count, d_y);
        wait<cuda::thread_scope_device><<<2, 1>>>(d_count + 1, d_count + 2, d_y);
    } else {
        ticket<cuda::thread_scope_block><<<2, 32>>>(d_count, d_y);
        wait<cuda::thread_scope_block><<<2, 1>>>(d_count + 1, d_count + 2, d_y);
    }
    last_block<<<2, 1>>>(d_count + 3, d_count + 4, d_y, cured);
    CHECK(cudaMemset(d_count, 0, 8 * sizeof(int)));
    own<<<2, 32>>>(d_count, d_count + 2);

    flag<<<1, 64>>>(d_y);
    two_warps<<<1, 64>>>(d_y, cured);
    one_warp<<<1, 64>>>(d_y, cured);
    read_beside<<<1, 64>>>(d_y, cured, 5, 5);
    CHECK(cudaFree(d_y));
    CHECK(cudaFree(d_count));
}
