// C = A B for N x N matrices, by tiles of 4 x 4 in shared memory.
//
// /// launch
// [[launch]]
// kernel = "tile_product"
// grid = ["tiles", "tiles"]
// block = [4, 4]
// ///

extern "C" __global__ void tile_product(const int* A, const int* B, int* C, int tiles)
{
    __shared__ int a[4][4], b[4][4];
    const int N = 4 * tiles;
    const int column = blockIdx.x * 4 + threadIdx.x;
    const int row = blockIdx.y * 4 + threadIdx.y;
    int sum = 0;
    for (int first = 0; first < N; first += 4) {  // column of A's tile, row of B's
        a[threadIdx.y][threadIdx.x] = A[row * N + first + threadIdx.x];
        b[threadIdx.y][threadIdx.x] = B[(first + threadIdx.y) * N + column];
        __syncthreads();
        // BEGIN SOLUTION
        for (int k = 0; k < 4; ++k) {
            sum += a[threadIdx.y][k] * b[k][threadIdx.x];
        }
        // STARTER: // TODO: a row of a times a column of b
        // END SOLUTION
        __syncthreads();  // before the next tiles are written over these
    }
    C[row * N + column] = sum;
}
