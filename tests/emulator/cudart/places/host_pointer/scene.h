#pragma once

struct Lens {
    const float *table;
    int size;

    __device__ float at(int i) const
    {
        return table[i % size];  // FAULT out_of_bounds: shade
    }
};

struct Camera {
    float angle;
    Lens lens;

    __device__ float ray(int i) const
    {
        return angle + lens.at(i);  // CALL: shade
    }
};

struct Scene {
    int objects;
    Camera camera;
};
