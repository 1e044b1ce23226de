// Kernels that use Hopper's own instructions, each one access pattern, to hold the emulator's counting against Nsight
// Compute's: bulk copies and tensor copies by TMA, mbarriers, products of warpgroups, matrices to and from shared memory.
//
// /// launch
// smallest_arch = "sm_90a"
//
// [[scratch]]
// name = "halves"
// dtype = "float16"
// shape = [131072]
//
// [[scratch]]
// name = "words"
// dtype = "int32"
// shape = [65536]
//
// [[scratch]]
// name = "bytes"
// dtype = "uint8"
// shape = [262144]
//
// [[tensor_map]]
// name = "line"
// array = "in"
// shape = [65536]
// box = [256]
//
// [[tensor_map]]
// name = "line_ends"
// array = "in"
// shape = [1000]
// box = [256]
//
// [[tensor_map]]
// name = "rows_32"
// array = "in"
// shape = [256, 256]
// box = [16, 8]
// swizzle = 32
//
// [[tensor_map]]
// name = "rows_64"
// array = "in"
// shape = [256, 256]
// box = [16, 16]
// swizzle = 64
//
// [[tensor_map]]
// name = "rows_128"
// array = "in"
// shape = [256, 256]
// box = [16, 32]
// swizzle = 128
//
// [[tensor_map]]
// name = "wide_rows"
// array = "in"
// shape = [256, 256]
// box = [4, 256]
//
// [[tensor_map]]
// name = "narrow_rows"
// array = "in"
// shape = [256, 256]
// box = [64, 4]
//
// [[tensor_map]]
// name = "odd_rows"
// array = "in"
// shape = [256, 100]
// strides = [100]
// box = [16, 32]
//
// [[tensor_map]]
// name = "nan_outside"
// array = "in"
// shape = [250, 250]
// strides = [256]
// box = [16, 32]
// fill = "nan"
//
// [[tensor_map]]
// name = "cube"
// array = "in"
// shape = [16, 64, 64]
// box = [2, 4, 32]
//
// [[tensor_map]]
// name = "four"
// array = "in"
// shape = [16, 8, 16, 32]
// box = [1, 2, 4, 32]
// swizzle = 128
//
// [[tensor_map]]
// name = "five"
// array = "in"
// shape = [16, 4, 8, 4, 32]
// box = [1, 2, 2, 2, 32]
//
// [[tensor_map]]
// name = "half_rows"
// array = "halves"
// shape = [512, 256]
// box = [16, 64]
// swizzle = 128
//
// [[tensor_map]]
// name = "byte_rows"
// array = "bytes"
// shape = [512, 512]
// box = [16, 128]
// swizzle = 128
//
// [[tensor_map]]
// name = "word_rows"
// array = "words"
// shape = [256, 256]
// box = [16, 32]
//
// [[tensor_map]]
// name = "out_line"
// array = "out"
// shape = [65536]
// box = [256]
//
// [[tensor_map]]
// name = "out_rows_128"
// array = "out"
// shape = [256, 256]
// box = [16, 32]
// swizzle = 128
//
// [[tensor_map]]
// name = "out_odd_rows"
// array = "out"
// shape = [250, 100]
// strides = [100]
// box = [16, 32]
//
// [[tensor_map]]
// name = "out_cube"
// array = "out"
// shape = [16, 64, 64]
// box = [2, 4, 32]
//
// [[tensor_map]]
// name = "out_five"
// array = "out"
// shape = [16, 4, 8, 4, 32]
// box = [1, 2, 2, 2, 32]
//
// [[launch]]
// kernel = "load<1>"
// args = ["line", "out", "1024", "0", "256"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "load<1>"
// args = ["line_ends", "out", "1024", "0", "200"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "load<2>"
// args = ["rows_32", "out", "512", "0", "16"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "load<2>"
// args = ["rows_64", "out", "1024", "0", "16"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "load<2>"
// args = ["rows_128", "out", "2048", "0", "16"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "load<2>"
// args = ["rows_128", "out", "2048", "12", "16"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "load<2, -8>"
// args = ["rows_128", "out", "2048", "0", "37"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "load<2>"
// args = ["wide_rows", "out", "4096", "0", "4"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "load<2>"
// args = ["narrow_rows", "out", "1024", "8", "64"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "load<2>"
// args = ["odd_rows", "out", "2048", "84", "36"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "load<2>"
// args = ["nan_outside", "out", "2048", "240", "33"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "load<3>"
// args = ["cube", "out", "1024", "0", "2"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "load<3>"
// args = ["cube", "out", "1024", "48", "3"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "load<4>"
// args = ["four", "out", "1024", "0", "2"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "load<5>"
// args = ["five", "out", "1024", "0", "2"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "load<2>"
// args = ["half_rows", "out", "2048", "0", "16"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "load<2>"
// args = ["byte_rows", "out", "2048", "0", "16"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "prefetched"
// args = ["rows_128", "out", "2048", "16"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "ring<2>"
// args = ["rows_128", "out", "2048", "8"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "ring<4>"
// args = ["rows_128", "out", "2048", "8"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "ring<3>"
// args = ["odd_rows", "out", "2048", "4"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "store<1>"
// args = ["out_line", "in", "0", "256"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "store<2>"
// args = ["out_rows_128", "in", "0", "16"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "store<2>"
// args = ["out_odd_rows", "in", "80", "36"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "store<3>"
// args = ["out_cube", "in", "0", "2"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "store<5>"
// args = ["out_five", "in", "0", "2"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "reduce_add<1>"
// args = ["out_line", "in", "0", "256"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "reduce_add<2>"
// args = ["out_rows_128", "in", "0", "16"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "reduce_add<2>"
// args = ["out_odd_rows", "in", "80", "36"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "reduce_add<3>"
// args = ["out_cube", "in", "0", "2"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "reduce_add<2>"
// args = ["half_rows", "in", "0", "16"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "reduce_add<2>"
// args = ["word_rows", "in", "0", "16"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "reduce_max<2>"
// args = ["word_rows", "in", "0", "16"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "reduce_or<2>"
// args = ["word_rows", "in", "0", "16"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "bulk_load"
// args = ["in", "out", "16", "0"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "bulk_load"
// args = ["in", "out", "128", "0"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "bulk_load"
// args = ["in", "out", "4096", "0"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "bulk_load"
// args = ["in", "out", "8192", "0"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "bulk_load"
// args = ["in", "out", "272", "4"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "bulk_load"
// args = ["in", "out", "4096", "12"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "bulk_loads"
// args = ["in", "out", "16"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "bulk_loads"
// args = ["in", "out", "128"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "bulk_store<float>"
// args = ["in", "out", "16"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "bulk_store<float>"
// args = ["in", "out", "208"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "bulk_store<float>"
// args = ["in", "out", "8192"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "bulk_add_f32<float>"
// args = ["in", "out", "2048"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "bulk_add_f32<float>"
// args = ["in", "out", "144"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "bulk_add_u32<int>"
// args = ["in", "words", "2048"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "bulk_add_f16<__half>"
// args = ["in", "halves", "2048"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "bulk_min_s32<int>"
// args = ["in", "words", "2048"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "meeting"
// args = ["in", "out", "8"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "load_matrix<1, 16>"
// args = ["in", "out"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "load_matrix<2, 16>"
// args = ["in", "out"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "load_matrix<4, 16>"
// args = ["in", "out"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "load_matrix<4, 80>"
// args = ["in", "out"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "load_matrix<4, 128>"
// args = ["in", "out"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "load_matrix<2, 64>"
// args = ["in", "out"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "store_matrix<1, 16>"
// args = ["in", "out"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "store_matrix<2, 16>"
// args = ["in", "out"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "store_matrix<4, 16>"
// args = ["in", "out"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "store_matrix<4, 80>"
// args = ["in", "out"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "store_matrix<4, 128>"
// args = ["in", "out"]
// grid = [8]
// block = [128]
//
// [[launch]]
// kernel = "store_matrix<2, 64>"
// args = ["in", "out"]
// grid = [8]
// block = [128]
//
// ///

#include <cuda.h>
#include <cuda_fp16.h>

using u32 = unsigned;
using u64 = unsigned long long;

constexpr int THREADS = 128, TILE = 8192;

__device__ __forceinline__ u32 place(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }

// -- mbarriers ---------------------------------------------------------------------------------------------------
__device__ __forceinline__ void init(u64* barrier, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(place(barrier)), "r"(count));
}
__device__ __forceinline__ void expect(u64* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(place(barrier)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void arrive(u64* barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(place(barrier)) : "memory");
}
__device__ __forceinline__ void wait(u64* barrier, u32 parity) {
  asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" ::"r"(
                   place(barrier)),
               "r"(parity)
               : "memory");
}
__device__ __forceinline__ void generic_to_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void stored() {
  asm volatile("cp.async.bulk.commit_group;");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// -- tensor copies: block b is at coordinate b * step of the outermost dimension, and at `first` of the innermost ----
template <int RANK>
__device__ __forceinline__ void load_box(void* tile, const CUtensorMap* map, int first, int last, u64* barrier) {
  if constexpr (RANK == 1)
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3}], [%2];"
                 ::"r"(place(tile)), "l"(map), "r"(place(barrier)), "r"(first + last) : "memory");
  if constexpr (RANK == 2)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
                 ::"r"(place(tile)), "l"(map), "r"(place(barrier)), "r"(first), "r"(last) : "memory");
  if constexpr (RANK == 3)
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, 4, %4}], [%2];"
                 ::"r"(place(tile)), "l"(map), "r"(place(barrier)), "r"(first), "r"(last) : "memory");
  if constexpr (RANK == 4)
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, 4, 2, %4}], [%2];"
                 ::"r"(place(tile)), "l"(map), "r"(place(barrier)), "r"(first), "r"(last) : "memory");
  if constexpr (RANK == 5)
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, 2, 4, 2, %4}], [%2];"
                 ::"r"(place(tile)), "l"(map), "r"(place(barrier)), "r"(first), "r"(last) : "memory");
}

template <int RANK, int SHIFT = 0>
__global__ void load(const __grid_constant__ CUtensorMap map, float* out, int bytes, int first, int step) {
  __shared__ __align__(1024) float tile[TILE / 4];
  __shared__ u64 full;
  if (threadIdx.x == 0) {
    init(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;");
    expect(&full, bytes);
    load_box<RANK>(tile, &map, first + SHIFT, blockIdx.x * step, &full);
  }
  __syncthreads();
  wait(&full, 0);
  out[blockIdx.x * THREADS + threadIdx.x] = tile[threadIdx.x % (bytes / 4)];
}

// COPY: the instruction that takes a box from shared memory.
#define STORE(NAME, COPY)                                                                                             \
  template <int RANK>                                                                                                 \
  __global__ void NAME(const __grid_constant__ CUtensorMap map, const float* in, int first, int step) {               \
    __shared__ __align__(1024) float tile[TILE / 4];                                                                  \
    for (int i = threadIdx.x; i < TILE / 4; i += THREADS) tile[i] = in[i];                                            \
    generic_to_async();                                                                                               \
    __syncthreads();                                                                                                  \
    if (threadIdx.x == 0) {                                                                                           \
      int last = blockIdx.x * step;                                                                                   \
      if constexpr (RANK == 1)                                                                                        \
        asm volatile(COPY("1d") " [%1, {%2}], [%0];" ::"r"(place(tile)), "l"(&map), "r"(first + last) : "memory");    \
      if constexpr (RANK == 2)                                                                                        \
        asm volatile(COPY("2d") " [%1, {%2, %3}], [%0];" ::"r"(place(tile)), "l"(&map), "r"(first), "r"(last)         \
                     : "memory");                                                                                     \
      if constexpr (RANK == 3)                                                                                        \
        asm volatile(COPY("3d") " [%1, {%2, 4, %3}], [%0];" ::"r"(place(tile)), "l"(&map), "r"(first), "r"(last)      \
                     : "memory");                                                                                     \
      if constexpr (RANK == 5)                                                                                        \
        asm volatile(COPY("5d") " [%1, {%2, 2, 4, 2, %3}], [%0];" ::"r"(place(tile)), "l"(&map), "r"(first),          \
                     "r"(last)                                                                                        \
                     : "memory");                                                                                     \
      stored();                                                                                                       \
    }                                                                                                                 \
  }
#define PLAIN(RANK) "cp.async.bulk.tensor." RANK ".global.shared::cta.tile.bulk_group"
#define ADD(RANK) "cp.reduce.async.bulk.tensor." RANK ".global.shared::cta.add.tile.bulk_group"
#define MAX(RANK) "cp.reduce.async.bulk.tensor." RANK ".global.shared::cta.max.tile.bulk_group"
#define OR(RANK) "cp.reduce.async.bulk.tensor." RANK ".global.shared::cta.or.tile.bulk_group"
STORE(store, PLAIN)
STORE(reduce_add, ADD)
STORE(reduce_max, MAX)
STORE(reduce_or, OR)

__global__ void prefetched(const __grid_constant__ CUtensorMap map, float* out, int bytes, int step) {
  __shared__ __align__(1024) float tile[TILE / 4];
  __shared__ u64 full;
  if (threadIdx.x == 0) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map));
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {0, %1}];" ::"l"(&map), "r"(blockIdx.x * step));
    init(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;");
    expect(&full, bytes);
    load_box<2>(tile, &map, 0, blockIdx.x * step, &full);
  }
  __syncthreads();
  wait(&full, 0);
  out[blockIdx.x * THREADS + threadIdx.x] = tile[threadIdx.x];
}

// Boxes one behind the other through STAGES places, loaded by one warp and read by the three others.
template <int STAGES>
__global__ void ring(const __grid_constant__ CUtensorMap map, float* out, int bytes, int boxes) {
  __shared__ __align__(1024) float tiles[STAGES][512];
  __shared__ u64 full[STAGES], empty[STAGES];
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) init(&full[s], 1), init(&empty[s], THREADS - 32);
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0)
      for (int box = 0; box < boxes; box++) {
        int stage = box % STAGES, round = box / STAGES;
        wait(&empty[stage], (round & 1) ^ 1);
        expect(&full[stage], bytes);
        load_box<2>(tiles[stage], &map, box * 32, blockIdx.x * 16, &full[stage]);
      }
  } else {
    float sum = 0;
    for (int box = 0; box < boxes; box++) {
      int stage = box % STAGES, round = box / STAGES;
      wait(&full[stage], round & 1);
      sum += tiles[stage][threadIdx.x];
      arrive(&empty[stage]);
    }
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
  }
}

// -- bulk copies -------------------------------------------------------------------------------------------------
__device__ __forceinline__ void load_bytes(void* tile, const void* from, int bytes, u64* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   place(tile)),
               "l"(from), "r"(bytes), "r"(place(barrier))
               : "memory");
}
__global__ void bulk_load(const float* in, float* out, int bytes, int shift) {
  __shared__ __align__(128) float tile[TILE / 4];
  __shared__ u64 full;
  if (threadIdx.x == 0) {
    init(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;");
    expect(&full, bytes);
    load_bytes(tile, in + blockIdx.x * TILE / 4 + shift, bytes, &full);
  }
  __syncthreads();
  wait(&full, 0);
  out[blockIdx.x * THREADS + threadIdx.x] = tile[threadIdx.x % (bytes / 4)];
}
__global__ void bulk_loads(const float* in, float* out, int bytes) {  // one a thread of a warp
  __shared__ __align__(128) float tile[TILE / 4];
  __shared__ u64 full;
  if (threadIdx.x == 0) {
    init(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;");
    expect(&full, 32 * bytes);
  }
  __syncthreads();
  if (threadIdx.x < 32) load_bytes(tile + threadIdx.x * bytes / 4, in + threadIdx.x * bytes / 2, bytes, &full);
  wait(&full, 0);
  out[blockIdx.x * THREADS + threadIdx.x] = tile[threadIdx.x];
}
#define BULK_STORE(NAME, COPY)                                                                                        \
  template <class T>                                                                                                  \
  __global__ void NAME(const float* in, T* out, int bytes) {                                                          \
    __shared__ __align__(128) float tile[TILE / 4];                                                                   \
    for (int i = threadIdx.x; i < bytes / 4; i += THREADS) tile[i] = in[i];                                           \
    generic_to_async();                                                                                               \
    __syncthreads();                                                                                                  \
    if (threadIdx.x == 0) {                                                                                           \
      asm volatile(COPY " [%0], [%1], %2;" ::"l"(out + blockIdx.x * TILE / sizeof(T)), "r"(place(tile)), "r"(bytes)   \
                   : "memory");                                                                                       \
      stored();                                                                                                       \
    }                                                                                                                 \
  }
BULK_STORE(bulk_store, "cp.async.bulk.global.shared::cta.bulk_group")
BULK_STORE(bulk_add_f32, "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32")
BULK_STORE(bulk_add_u32, "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32")
BULK_STORE(bulk_add_f16, "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16")
BULK_STORE(bulk_min_s32, "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s32")

// -- mbarriers alone ---------------------------------------------------------------------------------------------
__global__ void meeting(const float* in, float* out, int rounds) {  // all threads arrive and wait, as at a barrier
  __shared__ u64 barrier;
  __shared__ float values[THREADS];
  if (threadIdx.x == 0) init(&barrier, THREADS);
  __syncthreads();
  float sum = 0;
  for (int round = 0; round < rounds; round++) {
    if (round % 2 == 0) values[threadIdx.x] = in[round * THREADS + threadIdx.x];
    arrive(&barrier);
    wait(&barrier, round & 1);
    if (round % 2 == 0) sum += values[THREADS - 1 - threadIdx.x];
  }
  out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

// -- matrices between shared memory and registers ------------------------------------------------------------------
template <int COUNT, int ROW>
__global__ void load_matrix(const float* in, float* out) {  // rows of 16 bytes, ROW bytes apart
  __shared__ __align__(128) float tile[TILE / 4];
  for (int i = threadIdx.x; i < TILE / 4; i += THREADS) tile[i] = in[i];
  __syncthreads();
  u32 from = place(tile) + threadIdx.x % 32 * ROW, a = 0, b = 0, c = 0, d = 0;
  if constexpr (COUNT == 1)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(from) : "memory");
  if constexpr (COUNT == 2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(from) : "memory");
  if constexpr (COUNT == 4)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(from) : "memory");
  out[blockIdx.x * THREADS + threadIdx.x] = __uint_as_float(a ^ b ^ c ^ d);
}
template <int COUNT, int ROW>
__global__ void store_matrix(const float* in, float* out) {
  __shared__ __align__(128) float tile[TILE / 4];
  u32 a = __float_as_uint(in[threadIdx.x]);
  if (threadIdx.x < 32) {
    u32 to = place(tile) + threadIdx.x * ROW;
    if constexpr (COUNT == 1)
      asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(to), "r"(a) : "memory");
    if constexpr (COUNT == 2)
      asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %1};" ::"r"(to), "r"(a) : "memory");
    if constexpr (COUNT == 4)
      asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(to), "r"(a) : "memory");
  }
  __syncthreads();
  if (threadIdx.x < 8) out[blockIdx.x * THREADS + threadIdx.x] = tile[threadIdx.x * ROW / 4];
}
