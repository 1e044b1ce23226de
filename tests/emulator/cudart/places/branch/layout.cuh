#pragma once

template <bool PADDED> struct Layout {
#ifdef CURED
    static constexpr int SIZE = 32 * (PADDED ? 33 : 32);
#else
    static constexpr int SIZE = 32 * 32;
#endif

    static __device__ void put(float *tile, int y, int x, float value)
    {
        if constexpr (PADDED)
            tile[y * 33 + x] = value;  // FAULT out_of_bounds: transpose<true>
        else
            tile[y * 32 + x] = value;
    }

    static __device__ float get(const float *tile, int y, int x)
    {
        return tile[min(y * (PADDED ? 33 : 32) + x, SIZE - 1)];
    }
};
