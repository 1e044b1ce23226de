// https://github.com/ggml-org/llama.cpp/pull/28358
// A row of 16 packed words is stored by all 32 lanes: the upper ones write zeros over the scales behind it.
#include <cstdio>

template <bool CURED>
__global__ void quantize(const float *x, float *scales) {
  __shared__ struct {
    int packed[16];
    float scale[16];
  } row;
  const int lane = threadIdx.x;
  int *packed = row.packed;
  const int quad = lane < 16 ? int(x[lane]) * 0x01010101 : 0;
  if (!CURED || lane < 16) packed[lane] = quad;
  if (lane % 8 == 0) row.scale[lane / 8] = x[lane] / 127;  // BUG
  __syncwarp();
  if (lane < 4) scales[lane] = row.scale[lane] + packed[lane];
}

int main(int argc, char **) {
  float h[32], *x, *scales;
  for (int i = 0; i < 32; ++i) h[i] = float(i + 1);
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&scales, 4 * sizeof(float));
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  if (argc > 1) quantize<true><<<1, 32>>>(x, scales);
  else quantize<false><<<1, 32>>>(x, scales);
  cudaMemcpy(h, scales, 4 * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", h[0]);
  cudaFree(x);
  cudaFree(scales);
}
