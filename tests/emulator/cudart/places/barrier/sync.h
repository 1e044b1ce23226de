#pragma once

#define BARRIER_OF_BLOCK() \
    do {                   \
        __syncthreads();   \
    } while (false)
