#pragma once
#include "selection.cuh"

template <int MOST> class Accepted : public Selection<Accepted<MOST>> {
public:
    __device__ explicit Accepted(float least) : least_(least)
    {
    }

    __device__ bool accepts(float x) const
    {
#ifdef CURED
        if (count_ == MOST)
            return false;
#endif
        return x > least_;
    }

    __device__ void keep(float x)
    {
        kept_[count_] = x;  // FAULT out_of_bounds: select
        count_++;
    }

    __device__ float sum() const
    {
        float total = 0.0f;
        for (int i = 0; i < min(count_, MOST); i++)
            total += kept_[i];
        return total;
    }

private:
    float least_;
    int count_ = 0;
    float kept_[MOST];
};
