// https://github.com/apache/mahout/issues/1107
// Rows are read as double2; where they have an odd length, every second one begins between two pairs.
#include <cstdio>

template <bool CURED>
__global__ void norms(const double *x, double *out, int length) {
  const double *row = x + blockIdx.x * length;
  double sum = 0;
  int i = threadIdx.x * 2;
  const bool aligned = !CURED || blockIdx.x * length % 2 == 0;
  for (; i + 1 < length; i += 64) {
    double2 pair;
    if (aligned) pair = *reinterpret_cast<const double2 *>(row + i);  // BUG
    else pair = {row[i], row[i + 1]};
    sum += pair.x * pair.x + pair.y * pair.y;
  }
  if (i < length) sum += row[i] * row[i];
  atomicAdd(out + blockIdx.x, sum);
}

int main(int argc, char **) {
  double h[3 * 127], *x, *out;
  for (double &value : h) value = 1;
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&out, 3 * sizeof(double));
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, 3 * sizeof(double));
  if (argc > 1) norms<true><<<3, 32>>>(x, out, 127);
  else norms<false><<<3, 32>>>(x, out, 127);
  cudaMemcpy(h, out, 3 * sizeof(double), cudaMemcpyDeviceToHost);
  std::printf("%g\n", h[1]);
  cudaFree(x);
  cudaFree(out);
}
