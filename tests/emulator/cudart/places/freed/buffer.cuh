#pragma once

class Buffer {
public:
    explicit Buffer(int n)
    {
        cudaMalloc(&data_, n * sizeof(float));
    }

    ~Buffer()
    {
        if (owns_)
            release();
    }

    void release()
    {
        cudaFree(data_);  // OTHER: fill
        owns_ = false;
    }

    float *data() const
    {
        return data_;
    }

private:
    float *data_ = nullptr;
    bool owns_ = true;
};
