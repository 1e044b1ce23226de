// Kernels nobody tuned for, each one access pattern, to hold the emulator's counting against Nsight Compute's.
// All have the parameters (float* out, const float* in, int n) and run with 8 blocks of 256 threads on 65536 floats.

#include <cuda_fp16.h>

#define PROBE extern "C" __global__ void

constexpr int THREADS = 256;

__device__ __forceinline__ int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

// -- global memory ---------------------------------------------------------------------------------------------
PROBE global_unit(float* out, const float* in, int n) { int i = thread(); out[i] = in[i]; }
PROBE global_shifted(float* out, const float* in, int n) { int i = thread(); out[i + 1] = in[i + 3]; }
PROBE global_stride2(float* out, const float* in, int n) { int i = thread(); out[2 * i] = in[2 * i]; }
PROBE global_stride8(float* out, const float* in, int n) { int i = thread(); out[8 * i] = in[8 * i]; }
PROBE global_stride31(float* out, const float* in, int n) { int i = thread(); out[31 * i % n] = in[31 * i % n]; }
PROBE global_reverse(float* out, const float* in, int n) { int i = thread(); out[n - 1 - i] = in[n - 1 - i]; }
PROBE global_broadcast(float* out, const float* in, int n) { int i = thread(); out[i] = in[i / 32]; }
PROBE global_half_warp(float* out, const float* in, int n) { int i = thread(); if (i & 16) out[i] = in[i]; }
PROBE global_every_third(float* out, const float* in, int n) { int i = thread(); if (i % 3 == 0) out[i] = in[i]; }
PROBE global_float2(float* out, const float* in, int n) {
  int i = thread();
  reinterpret_cast<float2*>(out)[i] = reinterpret_cast<const float2*>(in)[i];
}
PROBE global_float4(float* out, const float* in, int n) {
  int i = thread();
  reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i];
}
PROBE global_float4_strided(float* out, const float* in, int n) {
  int i = thread();
  reinterpret_cast<float4*>(out)[3 * i] = reinterpret_cast<const float4*>(in)[5 * i];
}
PROBE global_float4_broadcast(float* out, const float* in, int n) {
  int i = thread();
  reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i / 32];
}
PROBE global_float4_pairs(float* out, const float* in, int n) {
  int i = thread();
  reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i / 2];
}
PROBE global_bytes(float* out, const float* in, int n) {
  int i = thread();
  reinterpret_cast<char*>(out)[i] = reinterpret_cast<const char*>(in)[i];
}
PROBE global_double(float* out, const float* in, int n) {
  int i = thread();
  reinterpret_cast<double*>(out)[i] = 2.0 * reinterpret_cast<const double*>(in)[i] + 1.0;
}
PROBE global_gather(float* out, const float* in, int n) {
  int i = thread();
  unsigned h = (i * 2654435761u) >> 16;
  out[i] = in[h % n];
}

// -- shared memory: one store and one load in each pattern --------------------------------------------------------
__device__ float number(float x) { return x; }
__device__ float number(float4 x) { return x.x; }
template <class T, class F>
__device__ void through_shared(float* out, const float* in, F index) {
  __shared__ T tile[4096];
  int t = threadIdx.x;
  for (int i = t; i < 4096; i += THREADS) tile[i] = T{};
  __syncthreads();
  T value = tile[index(t)];
  __syncthreads();
  tile[index(t)] = value;
  __syncthreads();
  out[thread()] = number(tile[t]) + in[0];
}
PROBE shared_unit(float* out, const float* in, int n) { through_shared<float>(out, in, [](int t) { return t; }); }
PROBE shared_stride2(float* out, const float* in, int n) { through_shared<float>(out, in, [](int t) { return 2 * t; }); }
PROBE shared_stride3(float* out, const float* in, int n) { through_shared<float>(out, in, [](int t) { return 3 * t; }); }
PROBE shared_stride16(float* out, const float* in, int n) { through_shared<float>(out, in, [](int t) { return 16 * t; }); }
PROBE shared_column(float* out, const float* in, int n) { through_shared<float>(out, in, [](int t) { return t % 32 * 32 + t / 32; }); }
PROBE shared_padded(float* out, const float* in, int n) { through_shared<float>(out, in, [](int t) { return t % 32 * 33 + t / 32; }); }
PROBE shared_broadcast(float* out, const float* in, int n) { through_shared<float>(out, in, [](int t) { return t / 32; }); }
PROBE shared_two_words(float* out, const float* in, int n) { through_shared<float>(out, in, [](int t) { return t / 16 * 32; }); }
PROBE shared_bytes(float* out, const float* in, int n) { through_shared<char>(out, in, [](int t) { return 4 * t; }); }
PROBE shared_bytes_packed(float* out, const float* in, int n) { through_shared<char>(out, in, [](int t) { return t; }); }
PROBE shared_halves(float* out, const float* in, int n) { through_shared<short>(out, in, [](int t) { return 32 * t % 4096; }); }
PROBE shared8_unit(float* out, const float* in, int n) { through_shared<double>(out, in, [](int t) { return t; }); }
PROBE shared8_stride2(float* out, const float* in, int n) { through_shared<double>(out, in, [](int t) { return 2 * t; }); }
PROBE shared8_stride16(float* out, const float* in, int n) { through_shared<double>(out, in, [](int t) { return 16 * t; }); }
PROBE shared8_broadcast(float* out, const float* in, int n) { through_shared<double>(out, in, [](int t) { return t / 32; }); }
PROBE shared8_pairs(float* out, const float* in, int n) { through_shared<double>(out, in, [](int t) { return t / 2; }); }
PROBE shared8_halves(float* out, const float* in, int n) { through_shared<double>(out, in, [](int t) { return t % 16; }); }
PROBE shared16_unit(float* out, const float* in, int n) { through_shared<float4>(out, in, [](int t) { return t; }); }
PROBE shared16_stride2(float* out, const float* in, int n) { through_shared<float4>(out, in, [](int t) { return 2 * t; }); }
PROBE shared16_stride8(float* out, const float* in, int n) { through_shared<float4>(out, in, [](int t) { return 8 * t; }); }
PROBE shared16_broadcast(float* out, const float* in, int n) { through_shared<float4>(out, in, [](int t) { return t / 32; }); }
PROBE shared16_pairs(float* out, const float* in, int n) { through_shared<float4>(out, in, [](int t) { return t / 2; }); }
PROBE shared16_fours(float* out, const float* in, int n) { through_shared<float4>(out, in, [](int t) { return t / 4; }); }
PROBE shared16_eights(float* out, const float* in, int n) { through_shared<float4>(out, in, [](int t) { return t % 8; }); }
PROBE shared16_alternate(float* out, const float* in, int n) { through_shared<float4>(out, in, [](int t) { return t % 2; }); }
PROBE shared16_tile(float* out, const float* in, int n) { through_shared<float4>(out, in, [](int t) { return t % 4 * 32 + t / 4; }); }

// -- atomics, local memory, arithmetic ------------------------------------------------------------------------------
PROBE atomic_spread(float* out, const float* in, int n) { atomicAdd(reinterpret_cast<int*>(out) + thread(), 1); }
PROBE atomic_one(float* out, const float* in, int n) { atomicAdd(reinterpret_cast<int*>(out), 1); }
PROBE atomic_old(float* out, const float* in, int n) {
  int i = thread();
  reinterpret_cast<int*>(out)[n / 2 + i] = atomicAdd(reinterpret_cast<int*>(out) + i % 7, 1);
}
PROBE atomic_float(float* out, const float* in, int n) { atomicAdd(out + thread() % 64, in[thread()]); }
PROBE shared_atomic(float* out, const float* in, int n) {
  __shared__ int bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[threadIdx.x * 7 % 64], 1);
  __syncthreads();
  if (threadIdx.x < 64) out[blockIdx.x * 64 + threadIdx.x] = bins[threadIdx.x];
}
PROBE local_array(float* out, const float* in, int n) {
  float values[16];
  int i = thread();
  for (int k = 0; k < 16; k++) values[k] = in[i * 16 % n + k];
  float sum = 0;
  for (int k = 0; k < 16; k++) sum += values[(i + 3 * k) & 15] * (k + 1);
  out[i] = sum;
}
PROBE arithmetic(float* out, const float* in, int n) {
  int i = thread();
  float x = in[i], y = in[i + 1];
  out[i] = x * y + (x + 1.5f) * 0.25f - y;
}
PROBE divide(float* out, const float* in, int n) { int i = thread(); out[i] = in[i] / in[i + 1]; }
PROBE roots(float* out, const float* in, int n) { int i = thread(); out[i] = sqrtf(in[i]) + rsqrtf(in[i + 1]) + expf(in[i + 2]); }
PROBE doubles(float* out, const float* in, int n) { int i = thread(); double x = in[i]; out[i] = float(x * x + 3.0 * x + 1.0); }
PROBE halves(float* out, const float* in, int n) {
  int i = thread();
  half2 x = reinterpret_cast<const half2*>(in)[i], y = reinterpret_cast<const half2*>(in)[i + 1];
  reinterpret_cast<half2*>(out)[i] = __hfma2(x, y, __hadd2(x, __hmul2(y, y)));
}
PROBE divergent(float* out, const float* in, int n) {
  int i = thread();
  float x = in[i];
  if (threadIdx.x & 1) {
    for (int k = 0; k < (threadIdx.x & 7); k++) x = x * 1.5f + 0.5f;
  } else {
    x = x * x * x;
  }
  out[i] = x;
}
PROBE shuffles(float* out, const float* in, int n) {
  int i = thread();
  float x = in[i];
  for (int step = 16; step; step /= 2) x += __shfl_xor_sync(~0u, x, step);
  out[i] = x;
}
