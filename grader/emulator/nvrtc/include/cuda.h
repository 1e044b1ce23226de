#pragma once
// The driver's header declares functions of the host, which NVRTC does not take. What kernels want of it is this type.
typedef struct alignas(64) CUtensorMap_st {
    unsigned long long opaque[16];
} CUtensorMap;
