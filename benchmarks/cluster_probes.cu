// Kernels of thread-block clusters, each one access pattern, to hold the emulator's counting against Nsight Compute's:
// loads, stores and atomics on another block's shared memory, stores and copies that complete an mbarrier there,
// multicast by TMA, and the barrier of the cluster.
//
// /// launch
// smallest_arch = "sm_90a"
//
// [[launch]]
// kernel = "read<1>"
// args = ["in", "out", "1", "1"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "read<2>"
// args = ["in", "out", "2", "1"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "read<4>"
// args = ["in", "out", "4", "1"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "read<1>"
// args = ["in", "out", "0", "1"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "read<1>"
// args = ["in", "out", "2", "1"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "read<1>"
// args = ["in", "out", "8", "1"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "read<1>"
// args = ["in", "out", "32", "1"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "read<4>"
// args = ["in", "out", "8", "1"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "read<1>"
// args = ["in", "out", "1", "0"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "read<1>"
// args = ["in", "out", "1", "3"]
// grid = [8]
// block = [128]
// cluster = [4]
//
// [[launch]]
// kernel = "read_generic"
// args = ["in", "out", "1"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "read_generic"
// args = ["in", "out", "0"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "read_half"
// args = ["in", "out"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "write<1>"
// args = ["in", "out", "1"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "write<2>"
// args = ["in", "out", "2"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "write<4>"
// args = ["in", "out", "4"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "write<1>"
// args = ["in", "out", "2"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "write<1>"
// args = ["in", "out", "8"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "write<1>"
// args = ["in", "out", "32"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "add"
// args = ["out", "1"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "add"
// args = ["out", "0"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "add_unused"
// args = ["out", "1"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "add_unused"
// args = ["out", "0"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "exchange"
// args = ["out", "1"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "send<1>"
// args = ["in", "out"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "send<2>"
// args = ["in", "out"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "send<4>"
// args = ["in", "out"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "send_sum"
// args = ["out"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "copy"
// args = ["in", "out", "256"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "copy"
// args = ["in", "out", "4096"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "copy_sum"
// args = ["in", "out", "4096"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "multicast"
// args = ["in", "out", "1024"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "multicast"
// args = ["in", "out", "1024"]
// grid = [8]
// block = [128]
// cluster = [4]
//
// [[launch]]
// kernel = "arrive"
// args = ["out"]
// grid = [8]
// block = [128]
// cluster = [2]
//
// [[launch]]
// kernel = "meet"
// args = ["out"]
// grid = [8]
// block = [128]
// cluster = [2]
// ///

#define THREADS 128
typedef unsigned long long u64;

__device__ __forceinline__ unsigned place(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ __forceinline__ unsigned rank_here() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// The same place in the shared memory of the block `step` ranks further, of which a cluster has a power of two.
__device__ __forceinline__ unsigned peer(const void* p, unsigned step) {
  unsigned ranks, there;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(ranks));
  unsigned rank = (rank_here() + step) & (ranks - 1);
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(place(p)), "r"(rank));
  return there;
}

__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__device__ __forceinline__ void init(u64* barrier, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(place(barrier)), "r"(count) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void expect(u64* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(place(barrier)), "r"(bytes) : "memory");
}

__device__ __forceinline__ void wait(u64* barrier) {
  asm volatile("{\n\t.reg .pred done;\n\tagain:\n\t"
               "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], 0;\n\t"
               "@!done bra again;\n\t}" ::"r"(place(barrier)) : "memory");
}

// -- plain accesses: each thread's are `stride` words from its neighbour's, in the block `step` further -------------
template <int WORDS>
__global__ void read(const float* in, float* out, int stride, int step) {
  __shared__ __align__(16) float tile[32 * THREADS];
  for (int i = threadIdx.x; i < 32 * THREADS; i += THREADS) tile[i] = in[i];
  cluster_sync();
  unsigned from = peer(tile, step) + 4 * stride * threadIdx.x;
  float4 found = {0, 0, 0, 0};
  if constexpr (WORDS == 1) asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(found.x) : "r"(from));
  if constexpr (WORDS == 2)
    asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];" : "=f"(found.x), "=f"(found.y) : "r"(from));
  if constexpr (WORDS == 4)
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(found.x), "=f"(found.y), "=f"(found.z), "=f"(found.w) : "r"(from));
  out[blockIdx.x * THREADS + threadIdx.x] = found.x + found.y + found.z + found.w;
  cluster_sync();
}

__global__ void read_generic(const float* in, float* out, int step) {  // as map_shared_rank() makes it
  __shared__ float tile[THREADS];
  tile[threadIdx.x] = in[threadIdx.x];
  cluster_sync();
  const float* there;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(tile), "r"((rank_here() + step) & 1));
  out[blockIdx.x * THREADS + threadIdx.x] = there[threadIdx.x];
  cluster_sync();
}

__global__ void read_half(const float* in, float* out) {  // every other lane reads its own block's
  __shared__ float tile[THREADS];
  tile[threadIdx.x] = in[threadIdx.x];
  cluster_sync();
  unsigned from = peer(tile, threadIdx.x & 1) + 4 * threadIdx.x;
  float found;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(found) : "r"(from));
  out[blockIdx.x * THREADS + threadIdx.x] = found;
  cluster_sync();
}

template <int WORDS>
__global__ void write(const float* in, float* out, int stride) {
  __shared__ __align__(16) float tile[32 * THREADS];
  for (int i = threadIdx.x; i < 32 * THREADS; i += THREADS) tile[i] = 0;
  float value = in[threadIdx.x];
  cluster_sync();
  unsigned to = peer(tile, 1) + 4 * stride * threadIdx.x;
  if constexpr (WORDS == 1) asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(to), "f"(value) : "memory");
  if constexpr (WORDS == 2)
    asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %1};" ::"r"(to), "f"(value) : "memory");
  if constexpr (WORDS == 4)
    asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %1, %1, %1};" ::"r"(to), "f"(value) : "memory");
  cluster_sync();
  out[blockIdx.x * THREADS + threadIdx.x] = tile[threadIdx.x * stride];
}

// -- atomics -------------------------------------------------------------------------------------------------------
// UPDATE: the instruction, whose result goes to the thread's output.
#define ATOMIC(NAME, UPDATE)                                                                                          \
  __global__ void NAME(float* out, int stride) {                                                                      \
    __shared__ unsigned counts[THREADS];                                                                              \
    counts[threadIdx.x] = 0;                                                                                          \
    cluster_sync();                                                                                                   \
    unsigned to = peer(counts, 1) + 4 * stride * threadIdx.x, before = 0;                                             \
    UPDATE;                                                                                                           \
    cluster_sync();                                                                                                   \
    out[blockIdx.x * THREADS + threadIdx.x] = counts[threadIdx.x] + before;                                           \
  }
ATOMIC(add, asm volatile("atom.shared::cluster.add.u32 %0, [%1], 1;" : "=r"(before) : "r"(to) : "memory"))
ATOMIC(add_unused, asm volatile("red.shared::cluster.add.u32 [%0], 1;" ::"r"(to) : "memory"))
ATOMIC(exchange, asm volatile("atom.shared::cluster.exch.b32 %0, [%1], 1;" : "=r"(before) : "r"(to) : "memory"))

// -- what completes an mbarrier of the other block --------------------------------------------------------------------
template <int WORDS>
__global__ void send(const float* in, float* out) {
  __shared__ __align__(16) float tile[4 * THREADS];
  __shared__ u64 full;
  float value = in[threadIdx.x];
  if (threadIdx.x == 0) {
    init(&full, 1);
    expect(&full, 4 * WORDS * THREADS);
  }
  cluster_sync();
  unsigned to = peer(tile, 1) + 4 * WORDS * threadIdx.x, done = peer(&full, 1);
#define SEND "st.async.shared::cluster.mbarrier::complete_tx::bytes"
  if constexpr (WORDS == 1) asm volatile(SEND ".f32 [%0], %1, [%2];" ::"r"(to), "f"(value), "r"(done) : "memory");
  if constexpr (WORDS == 2)
    asm volatile(SEND ".v2.f32 [%0], {%1, %1}, [%2];" ::"r"(to), "f"(value), "r"(done) : "memory");
  if constexpr (WORDS == 4)
    asm volatile(SEND ".v4.f32 [%0], {%1, %1, %1, %1}, [%2];" ::"r"(to), "f"(value), "r"(done) : "memory");
  wait(&full);
  out[blockIdx.x * THREADS + threadIdx.x] = tile[threadIdx.x * WORDS];
  cluster_sync();
}

__global__ void send_sum(float* out) {
  __shared__ unsigned counts[THREADS];
  __shared__ u64 full;
  counts[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    init(&full, 1);
    expect(&full, 4 * THREADS);
  }
  cluster_sync();
  asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], 1, [%1];"
               ::"r"(peer(&counts[threadIdx.x], 1)), "r"(peer(&full, 1)) : "memory");
  wait(&full);
  out[blockIdx.x * THREADS + threadIdx.x] = counts[threadIdx.x];
  cluster_sync();
}

// COPY: from the own shared memory to the other block's.
#define BULK(NAME, COPY)                                                                                              \
  __global__ void NAME(const float* in, float* out, int bytes) {                                                      \
    __shared__ __align__(128) float source[1024], target[1024];                                                       \
    __shared__ u64 full;                                                                                              \
    for (int i = threadIdx.x; i < 1024; i += THREADS) {                                                               \
      source[i] = in[i];                                                                                              \
      target[i] = 0;                                                                                                  \
    }                                                                                                                 \
    if (threadIdx.x == 0) {                                                                                           \
      init(&full, 1);                                                                                                 \
      expect(&full, bytes);                                                                                           \
    }                                                                                                                 \
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                                                      \
    cluster_sync();                                                                                                   \
    if (threadIdx.x == 0)                                                                                             \
      asm volatile(COPY " [%0], [%1], %2, [%3];"                                                                      \
                   ::"r"(peer(target, 1)), "r"(place(source)), "r"(bytes), "r"(peer(&full, 1)) : "memory");           \
    wait(&full);                                                                                                      \
    out[blockIdx.x * THREADS + threadIdx.x] = target[threadIdx.x % (bytes / 4)];                                      \
    cluster_sync();                                                                                                   \
  }
BULK(copy, "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes")
BULK(copy_sum, "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32")

__global__ void multicast(const float* in, float* out, int bytes) {  // the first block of a cluster to all of them
  __shared__ __align__(128) float tile[1024];
  __shared__ u64 full;
  unsigned ranks;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(ranks));
  if (threadIdx.x == 0) {
    init(&full, 1);
    expect(&full, bytes);
  }
  cluster_sync();
  if (rank_here() == 0 && threadIdx.x == 0)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1], %2, [%3], %4;"
                 ::"r"(place(tile)), "l"(in + blockIdx.x * 1024), "r"(bytes), "r"(place(&full)),
                 "h"((unsigned short)((1 << ranks) - 1)) : "memory");
  wait(&full);
  out[blockIdx.x * THREADS + threadIdx.x] = tile[threadIdx.x];
  cluster_sync();
}

__global__ void arrive(float* out) {  // a thread of each warp, at the mbarrier of the other block
  __shared__ u64 full;
  if (threadIdx.x == 0) init(&full, THREADS / 32);
  cluster_sync();
  if (threadIdx.x % 32 == 0)
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(peer(&full, 1)) : "memory");
  wait(&full);
  out[blockIdx.x * THREADS + threadIdx.x] = 1;
  cluster_sync();
}

__global__ void meet(float* out) {
  cluster_sync();
  out[blockIdx.x * THREADS + threadIdx.x] = 1;
}
