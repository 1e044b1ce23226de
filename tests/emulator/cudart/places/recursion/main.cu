// A tree is summed up by a function that calls itself; one of its nodes has a child that is not there.
#include "sum.cuh"

__global__ void sum_tree(const Node *nodes, float *out)
{
    *out = sum(nodes, 1);
}

int main()
{
    // 1 has 2 and 3; 2 has 4 on its right; 4 is not there unless there are five nodes, the first of them nobody's.
    const Node tree[] = {{0, 0, 0}, {1, 2, 3}, {1, 0, 4}, {1, 0, 0}, {1, 0, 0}};
#ifdef CURED
    const int count = 5;
#else
    const int count = 4;
#endif
    Node *nodes;
    float *out;
    cudaMalloc(&nodes, count * sizeof(Node));
    cudaMalloc(&out, sizeof(float));
    cudaMemcpy(nodes, tree, count * sizeof(Node), cudaMemcpyHostToDevice);
    sum_tree<<<1, 1>>>(nodes, out);  // LAUNCH: sum_tree
    cudaDeviceSynchronize();
    cudaFree(nodes);
    cudaFree(out);
}
