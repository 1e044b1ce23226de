#pragma once

namespace ops {

template <class T> struct Shift {
    int by;
    int n;

    __device__ T operator()(const T *in, int i) const
    {
#ifdef CURED
        if (i + by >= n)
            return T(0);
#endif
        return in[i + by];  // FAULT out_of_bounds: transform
    }
};

}  // namespace ops
