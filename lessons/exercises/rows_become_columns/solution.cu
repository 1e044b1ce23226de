// y[column][row] = x[row][column], for an x of H rows and W columns.
//
// /// launch
// [[launch]]
// kernel = "rows_become_columns"
// grid = ["cdiv(W, 4)", "cdiv(H, 2)"]
// block = [4, 2]
// ///

extern "C" __global__ void rows_become_columns(const int* x, int* y, int H, int W)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < H && column < W) {
        // BEGIN SOLUTION
        y[column * H + row] = x[row * W + column];
        // STARTER: // TODO: where in y does it go?
        // STARTER: y[row * W + column] = x[row * W + column];
        // END SOLUTION
    }
}
