// Included by clangd before a kernel file, see editor_files.py: what nvcc and NVRTC know unasked. Clang takes what lies
// between the pragmas for host and device code alike: printf, assert and std::sqrt in a kernel.
#pragma once
#include <array>  // brings in algorithms for the host alone, before <cmath> does for both
#pragma clang force_cuda_host_device begin
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#pragma clang force_cuda_host_device end
#include <cuda.h>  // defines CUDA_VERSION, by which CCCL tells what Clang compiles for
#include <cuda_runtime.h>
