// y[i] = x[i] + 10, by one block that has a thread for each of the N elements.
//
// The lines from /// launch to /// are the launch block. It says how the kernel is launched: grid is the number of
// blocks, here one, and block the number of threads in each of them, here N.
//
// /// launch
// [[launch]]
// kernel = "thread_index"
// grid = [1]
// block = ["N"]
// ///

// __global__ makes a function a kernel: the CPU launches it, and every thread on the GPU runs it, here N of them.
// x and y are arrays in the GPU's memory. extern "C" keeps the function's name as it is written.
extern "C" __global__ void thread_index(const int* x, int* y, int N)
{
    // BEGIN SOLUTION
    const int i = threadIdx.x;
    // STARTER: // TODO: every thread takes element 0. Which element is this thread's?
    // STARTER: const int i = 0;
    // END SOLUTION
    y[i] = x[i] + 10;
}
