// Destroys the texture object, and keeps the array that it read.
#include <cstring>

int main() {
    cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
    cudaArray_t row;
    cudaMallocArray(&row, &floats, 1024);  // BUG
    cudaResourceDesc resource;
    std::memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = row;
    cudaTextureDesc how;
    std::memset(&how, 0, sizeof how);
    cudaTextureObject_t object;
    cudaCreateTextureObject(&object, &resource, &how, nullptr);
    cudaDestroyTextureObject(object);
}
