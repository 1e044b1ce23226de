// Included by clangd before a kernel file, see editor_files.py: what nvcc and NVRTC know unasked. Clang takes what lies
// between the pragmas for host and device code alike: printf, assert and std::sqrt in a kernel.
#pragma once
#pragma clang force_cuda_host_device begin
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#pragma clang force_cuda_host_device end
#include <cuda_runtime.h>
