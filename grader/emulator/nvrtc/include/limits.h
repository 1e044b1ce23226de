#pragma once
extern "C++" {  // includes may stand inside extern "C", as in PyCUDA's SourceModule
#include <cuda/std/climits>
}
