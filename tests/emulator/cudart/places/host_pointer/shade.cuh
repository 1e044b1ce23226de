#pragma once
#include "scene.h"

__global__ void shade(Scene scene, float *image)
{
    image[threadIdx.x] = scene.camera.ray(threadIdx.x);  // CALL 2: shade
}
