#pragma once

template <class T> class Span {
public:
    __host__ __device__ Span(T *data, int size) : data_(data), size_(size)
    {
    }

    __device__ T &operator[](int i) const
    {
        return data_[i];
    }

    __device__ int size() const
    {
        return size_;
    }

private:
    T *data_;
    int size_;
};
