#pragma once
#include "vector.cuh"

struct Matrix {
    const float *data;
    int pitch;

    __device__ const float *row(int i) const
    {
        return data + i * pitch;
    }

    __device__ float4 four(int i, int j) const
    {
        return load_vector<float4>(row(i) + j);  // CALL: row_sums
    }
};
