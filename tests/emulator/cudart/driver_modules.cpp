// The driver's API: a module of PTX, launched; what is asked for and is not there; with an argument, bugs.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        const CUresult status = (call);                                                                                \
        const char *text;                                                                                              \
        if (status != CUDA_SUCCESS) {                                                                                  \
            cuGetErrorString(status, &text);                                                                           \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, text);                                             \
            std::exit(EXIT_FAILURE);                                                                                   \
        }                                                                                                              \
    } while (0)

const char *ptx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 more = 5;
.visible .entry add_more(.param .u64 add_more_0, .param .u32 add_more_1) {
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [add_more_0];
    ld.param.u32 %r1, [add_more_1];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r3, [more];
    .loc 1 3 5
    ld.global.u32 %r4, [%rd3];
    mad.lo.u32 %r5, %r1, %r3, %r4;
    st.global.u32 [%rd3], %r5;
    ret;
}
.file 1 "/elsewhere/kernel.cu"
)";
const int n = 64, bytes = n * sizeof(int);

const char *name_of(CUresult result) {
    const char *name;
    CHECK(cuGetErrorName(result, &name));
    return name;
}

void launch(CUfunction kernel, CUdeviceptr x, int times, CUstream stream) {
    void *arguments[] = {&x, &times};
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, n, 1, 1, 0, stream, arguments, nullptr));
}

void right(CUmodule module, CUfunction kernel) {
    static int host[n];
    CUdeviceptr x, y, more;
    CUstream stream;
    CUevent event;
    size_t size;
    CHECK(cuMemAlloc(&x, bytes));
    CHECK(cuMemAlloc(&y, bytes));
    CHECK(cuMemsetD32(x, 7, n));
    launch(kernel, x, 2, nullptr);
    CHECK(cuMemcpyDtoH(host, x, bytes));
    std::printf("%d %d\n", host[0], host[n - 1]);

    CHECK(cuModuleGetGlobal(&more, &size, module, "more"));
    host[0] = 100;
    CHECK(cuMemcpyHtoD(more, host, sizeof *host));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&event, CU_EVENT_DEFAULT));
    CHECK(cuMemcpyDtoDAsync(y, x, bytes, stream));
    launch(kernel, y, 3, stream);
    CHECK(cuEventRecord(event, stream));
    CHECK(cuEventSynchronize(event));
    CHECK(cuMemcpyDtoH(host, y, bytes));
    std::printf("%d, of %zu bytes\n", host[1], size);

    int grid, block;
    CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, kernel, nullptr, 0, 256));
    std::printf("blocks of %d\n", block);
    CHECK(cuEventDestroy(event));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuMemFree(x));
    CHECK(cuMemFree(y));
}

void not_there(CUmodule module) {
    CUfunction kernel;
    CUdeviceptr p;
    CUmodule other;
    CUdevice device;
    std::printf("%s\n", name_of(cuModuleGetFunction(&kernel, module, "nothing")));
    std::printf("%s\n", name_of(cuModuleGetGlobal(&p, nullptr, module, "nothing")));
    std::printf("%s\n", name_of(cuModuleLoad(&other, "nothing.ptx")));
    std::printf("%s\n", name_of(cuModuleLoadData(&other, "not PTX")));
    std::printf("%s\n", name_of(cuDeviceGet(&device, 1)));
    std::printf("%s\n", name_of(cuMemAlloc(&p, size_t(1) << 50)));
    std::printf("%s\n", name_of(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr)));
}

void bugs(CUfunction kernel) {
    CUdeviceptr d_x;
    cuMemAlloc(&d_x, bytes);  // LEAK
    CHECK(cuMemsetD8(d_x, 0, bytes));
    launch(kernel, d_x + 4, 1, nullptr);
    cuMemsetD8(d_x, 0, bytes + 1);  // SIZE
}

int main(int argc, char **) {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    char name[8];
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetName(name, sizeof name, device));
    CHECK(cuCtxCreate(&context, nullptr, 0, device));
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&kernel, module, "add_more"));
    if (argc > 1) {
        bugs(kernel);
    } else {
        std::printf("%s\n", name);
        right(module, kernel);
        not_there(module);
    }
    CHECK(cuModuleUnload(module));
    CHECK(cuCtxDestroy(context));
}
