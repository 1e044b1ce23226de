// https://github.com/microsoft/onnxruntime/issues/28107
// row × columns is computed in 32 bits: from row 239,674 on the product is negative.
#include <cstdint>
#include <cstdio>

template <class Index>
__global__ void gather(const char *table, const int *rows, char *out, int columns) {
  Index row = rows[blockIdx.x];
  for (int column = threadIdx.x; column < columns; column += blockDim.x)
    out[blockIdx.x * columns + column] = table[Index(row * columns) + column];  // BUG
}

int main(int argc, char **) {
  const int rows = 262144, columns = 8960, wanted[2] = {3, 255999};
  char *table, *out, last;
  int *chosen;
  cudaMalloc(&table, size_t(rows) * columns);
  cudaMalloc(&out, 2 * columns);
  cudaMalloc(&chosen, sizeof wanted);
  cudaMemcpy(chosen, wanted, sizeof wanted, cudaMemcpyHostToDevice);
  for (int row : wanted) cudaMemset(table + size_t(row) * columns, row % 100, columns);
  if (argc > 1) gather<int64_t><<<2, 256>>>(table, chosen, out, columns);
  else gather<int><<<2, 256>>>(table, chosen, out, columns);
  cudaMemcpy(&last, out + 2 * columns - 1, 1, cudaMemcpyDeviceToHost);
  std::printf("%d\n", last);
  cudaFree(table);
  cudaFree(out);
  cudaFree(chosen);
}
