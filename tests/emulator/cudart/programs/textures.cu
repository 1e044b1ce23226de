// PRINTS: fetched 3 0 1 2
// PRINTS: blurred 0.5 1.5 6.5
// PRINTS: wrapped 7 0 mirrored 0 7
// PRINTS: volume 42 43.5
// PRINTS: layers 105 205
// PRINTS: bytes 0.2 1
// PRINTS: back 12 13, 3 channels of 8 bits: invalid channel descriptor
#include "check.h"
#include <cstring>

__global__ void fetch(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex1Dfetch<float>(t, (int)threadIdx.x - 1); }

__global__ void line(cudaTextureObject_t t, const float *x, float *out) { out[threadIdx.x] = tex1D<float>(t, x[threadIdx.x]); }

__global__ void plane(cudaTextureObject_t t, const float *x, float *out) {
    out[threadIdx.x] = tex2D<float>(t, x[2 * threadIdx.x], x[2 * threadIdx.x + 1]);
}

__global__ void volume(cudaTextureObject_t t, const float *x, float *out) {
    const float *at = x + 3 * threadIdx.x;
    out[threadIdx.x] = tex3D<float>(t, at[0], at[1], at[2]);
}

__global__ void layer(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex2DLayered<float>(t, 1.5f, 1.5f, threadIdx.x); }

static float *d_x, *d_out, x[16], out[16];

static cudaTextureObject_t texture(const cudaResourceDesc &resource, cudaTextureFilterMode filter,
                                   cudaTextureAddressMode mode = cudaAddressModeClamp, bool normalised = false,
                                   cudaTextureReadMode read = cudaReadModeElementType) {
    cudaTextureDesc how;
    memset(&how, 0, sizeof how);
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = mode;
    how.filterMode = filter;
    how.readMode = read;
    how.normalizedCoords = normalised;
    cudaTextureObject_t object;
    CHECK(cudaCreateTextureObject(&object, &resource, &how, nullptr));
    return object;
}

static cudaResourceDesc of(cudaArray_t array) {
    cudaResourceDesc resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

static const float *at(std::initializer_list<float> places) {
    int n = 0;
    for (float place : places)
        x[n++] = place;
    CHECK(cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice));
    return d_x;
}

static void back(cudaTextureObject_t object) {
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    CHECK(cudaDestroyTextureObject(object));
}

int main() {
    CHECK(cudaMalloc(&d_x, sizeof x));
    CHECK(cudaMalloc(&d_out, sizeof out));
    float values[64];
    for (int i = 0; i < 64; i++)
        values[i] = i;

    // linear memory: zeros around it
    float *d_values;
    CHECK(cudaMalloc(&d_values, 8 * sizeof(float)));
    CHECK(cudaMemcpy(d_values, values, 8 * sizeof(float), cudaMemcpyHostToDevice));
    cudaResourceDesc linear;
    memset(&linear, 0, sizeof linear);
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear.devPtr = d_values;
    linear.res.linear.desc = cudaCreateChannelDesc<float>();
    linear.res.linear.sizeInBytes = 8 * sizeof(float);
    cudaTextureObject_t object = texture(linear, cudaFilterModePoint);
    fetch<<<1, 16>>>(object, d_out);
    back(object);
    printf("fetched %g %g %g %g\n", out[4], out[0], out[2], out[3]);

    // one dimension, filtered; then at its ends
    cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
    cudaArray_t row;
    CHECK(cudaMallocArray(&row, &floats, 8));
    CHECK(cudaMemcpy2DToArray(row, 0, 0, values, 8 * sizeof(float), 8 * sizeof(float), 1, cudaMemcpyHostToDevice));
    object = texture(of(row), cudaFilterModeLinear);
    line<<<1, 3>>>(object, at({1, 2, 7}), d_out);
    back(object);
    printf("blurred %g %g %g\n", out[0], out[1], out[2]);
    object = texture(of(row), cudaFilterModePoint, cudaAddressModeWrap, true);
    line<<<1, 2>>>(object, at({-0.01f, 1.01f}), d_out);
    back(object);
    printf("wrapped %g %g ", out[0], out[1]);
    object = texture(of(row), cudaFilterModePoint, cudaAddressModeMirror, true);
    line<<<1, 2>>>(object, at({-0.01f, 1.01f}), d_out);
    back(object);
    printf("mirrored %g %g\n", out[0], out[1]);
    CHECK(cudaFreeArray(row));

    // three dimensions, filtered: at the centre of a texel, and between eight of them
    cudaArray_t cube;
    CHECK(cudaMalloc3DArray(&cube, &floats, make_cudaExtent(4, 4, 4)));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(values, 4 * sizeof(float), 4, 4);
    copy.dstArray = cube;
    copy.extent = make_cudaExtent(4, 4, 4);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    object = texture(of(cube), cudaFilterModeLinear);
    volume<<<1, 2>>>(object, at({2.5f, 2.5f, 2.5f, 2, 1, 3}), d_out);
    back(object);
    const float centre = out[0], between = out[1];
    printf("volume %g %g\n", centre, between);

    // part of the array comes back into memory with a pitch
    cudaPitchedPtr pitched;
    CHECK(cudaMalloc3D(&pitched, make_cudaExtent(2 * sizeof(float), 2, 1)));
    CHECK(cudaMemset3D(pitched, 0, make_cudaExtent(2 * sizeof(float), 2, 1)));
    cudaMemcpy3DParms part = {};
    part.srcArray = cube;
    part.srcPos = make_cudaPos(0, 3, 0);
    part.dstPtr = pitched;
    part.extent = make_cudaExtent(2, 1, 1);
    part.kind = cudaMemcpyDeviceToDevice;
    CHECK(cudaMemcpy3D(&part));
    float corner[2];
    CHECK(cudaMemcpy(corner, pitched.ptr, sizeof corner, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(pitched.ptr));
    CHECK(cudaFreeArray(cube));

    // layers
    cudaArray_t layers;
    CHECK(cudaMalloc3DArray(&layers, &floats, make_cudaExtent(4, 4, 2), cudaArrayLayered));
    float two[32];
    for (int i = 0; i < 32; i++)
        two[i] = i % 16 + (i < 16 ? 100 : 200);
    copy.srcPtr = make_cudaPitchedPtr(two, 4 * sizeof(float), 4, 4);
    copy.dstArray = layers;
    copy.extent = make_cudaExtent(4, 4, 2);
    CHECK(cudaMemcpy3D(&copy));
    object = texture(of(layers), cudaFilterModePoint);
    layer<<<1, 2>>>(object, d_out);
    back(object);
    CHECK(cudaFreeArray(layers));
    printf("layers %g %g\n", out[0], out[1]);

    // memory with a pitch, of bytes that are read as floats from 0 to 1
    unsigned char *d_bytes, bytes[2][3] = {{0, 51, 102}, {153, 204, 255}};
    size_t pitch;
    CHECK(cudaMallocPitch(&d_bytes, &pitch, 3, 2));
    CHECK(cudaMemcpy2D(d_bytes, pitch, bytes, 3, 3, 2, cudaMemcpyHostToDevice));
    cudaResourceDesc rows;
    memset(&rows, 0, sizeof rows);
    rows.resType = cudaResourceTypePitch2D;
    rows.res.pitch2D.devPtr = d_bytes;
    rows.res.pitch2D.desc = cudaCreateChannelDesc<unsigned char>();
    rows.res.pitch2D.width = 3;
    rows.res.pitch2D.height = 2;
    rows.res.pitch2D.pitchInBytes = pitch;
    object = texture(rows, cudaFilterModePoint, cudaAddressModeClamp, false, cudaReadModeNormalizedFloat);
    plane<<<1, 2>>>(object, at({1.5f, 0.5f, 9, 9}), d_out);
    back(object);
    printf("bytes %g %g\n", out[0], out[1]);

    cudaArray_t none;
    cudaChannelFormatDesc three = {8, 8, 8, 0, cudaChannelFormatKindUnsigned};
    printf("back %g %g, 3 channels of 8 bits: %s\n", corner[0], corner[1],
           cudaGetErrorString(cudaMallocArray(&none, &three, 4)));
    cudaGetLastError();
    CHECK(cudaFree(d_bytes));
    CHECK(cudaFree(d_values));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_out));
}
