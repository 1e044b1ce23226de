#pragma once

template <class V, class T> __device__ V load_vector(const T *from)
{
    static_assert(sizeof(V) % sizeof(T) == 0);
    return *reinterpret_cast<const V *>(from);  // FAULT misaligned: row_sums
}
