#pragma once

__device__ inline float value_at(const float *values, int i)
{
    return values[i];  // FAULT out_of_bounds: distances
}

__device__ inline float scaled_value(const float *values, int i)
{
    return 2.0f * value_at(values, i);  // CALL: distances
}
