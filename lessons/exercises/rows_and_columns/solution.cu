// y = x + row: the number of its row is added to each element of a matrix of rows x cols, one element a thread.
//
// Where grid and block have two numbers, the first counts along x and the second along y: blocks of 4 x 4 threads, and
// so many of them side by side that they cover the columns, so many one below the other that they cover the rows.
//
// /// launch
// [[launch]]
// kernel = "rows_and_columns"
// grid = ["cdiv(cols, 4)", "cdiv(rows, 4)"]
// block = [4, 4]
// ///

extern "C" __global__ void rows_and_columns(const int* x, int* y, int rows, int cols)
{
    // BEGIN SOLUTION
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = row * cols + col;
    // STARTER: // TODO: in each block, all rows and columns are counted from 0. Which are they in the matrix?
    // STARTER: const int row = threadIdx.y;
    // STARTER: const int col = threadIdx.x;
    // STARTER: // TODO: where in the array does the element of this row and column lie?
    // STARTER: const int i = col;
    // END SOLUTION

    // The blocks at the right and at the bottom may reach beyond the matrix.
    if (row < rows && col < cols) {
        y[i] = x[i] + row;
    }
}
