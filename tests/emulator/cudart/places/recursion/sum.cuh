#pragma once
#include "node.h"

// Of a function that calls itself, the calls that led to the fault are not told.
__device__ __noinline__ float sum(const Node *nodes, int at)
{
    if (at == 0)
        return 0.0f;
    const Node node = nodes[at];  // FAULT out_of_bounds: sum_tree
    float total = node.value;
    total += sum(nodes, node.left);
    total += sum(nodes, node.right);
    return total;
}
