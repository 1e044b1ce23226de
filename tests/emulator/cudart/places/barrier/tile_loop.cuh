#pragma once

template <class F> __device__ void for_each_tile(int n, int most, F body)
{
    for (int first = 0; first < n; first += most)
        body(first, min(most, n - first));  // CALL: reversed OTHER CALL: reversed
}
