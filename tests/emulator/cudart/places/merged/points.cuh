#pragma once
#include "load.cuh"

struct Points {
    const float *x, *y, *z;
};

__device__ inline float3 load_point(const Points &points, int i)
{
    float3 p;
    p.x = scaled_value(points.x, i);
    p.y = scaled_value(points.y, i);
    p.z = scaled_value(points.z, i);  // CALL 2: distances
    return p;
}

__device__ inline float distance(const float3 &p, const float3 &q)
{
    const float x = p.x - q.x, y = p.y - q.y, z = p.z - q.z;
    return sqrtf(x * x + y * y + z * z);
}
