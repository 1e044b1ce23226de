// A scene goes to the kernel by value; the table of the lens of its camera is memory of the host's.
#include "scene.h"
#include "shade.cuh"

int main()
{
    static float table[16];
    Scene scene = {};
    scene.camera.lens.size = 16;
#ifdef CURED
    float *on_device;
    cudaMalloc(&on_device, sizeof table);
    cudaMemcpy(on_device, table, sizeof table, cudaMemcpyHostToDevice);
    scene.camera.lens.table = on_device;
#else
    scene.camera.lens.table = table;
#endif
    float *image;
    cudaMalloc(&image, 64 * sizeof(float));
    shade<<<1, 64>>>(scene, image);  // LAUNCH: shade
    cudaDeviceSynchronize();
    cudaFree(image);
#ifdef CURED
    cudaFree(on_device);
#endif
}
