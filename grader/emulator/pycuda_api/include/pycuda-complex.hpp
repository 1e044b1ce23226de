// Complex numbers for kernels, under PyCUDA's names: pycuda::complex<float> and pycuda::complex<double>.
// Functions follow their definitions and make no effort at arguments whose intermediate results overflow.
#ifndef WARPLADDER_PYCUDA_COMPLEX_HPP
#define WARPLADDER_PYCUDA_COMPLEX_HPP

extern "C++" {
namespace pycuda {

template <class T>
struct complex {
    typedef T value_type;
    T _M_re, _M_im;

    // Nothing is initialised: shared memory may hold complex numbers.
    complex() = default;
    __host__ __device__ complex(T re, T im = T()) : _M_re(re), _M_im(im) {}
    template <class U>
    __host__ __device__ complex(const complex<U> &z) : _M_re(T(z._M_re)), _M_im(T(z._M_im)) {}

    __host__ __device__ T real() const { return _M_re; }
    __host__ __device__ T imag() const { return _M_im; }
    __host__ __device__ explicit operator bool() const { return _M_re != T() || _M_im != T(); }

    __host__ __device__ complex &operator+=(const complex &z) { return *this = *this + z; }
    __host__ __device__ complex &operator-=(const complex &z) { return *this = *this - z; }
    __host__ __device__ complex &operator*=(const complex &z) { return *this = *this * z; }
    __host__ __device__ complex &operator/=(const complex &z) { return *this = *this / z; }

    // Friends, so that either operand may be a number of any type that converts.
    friend __host__ __device__ complex operator+(const complex &a, const complex &b)
    {
        return complex(a._M_re + b._M_re, a._M_im + b._M_im);
    }
    friend __host__ __device__ complex operator-(const complex &a, const complex &b)
    {
        return complex(a._M_re - b._M_re, a._M_im - b._M_im);
    }
    friend __host__ __device__ complex operator*(const complex &a, const complex &b)
    {
        return complex(a._M_re * b._M_re - a._M_im * b._M_im, a._M_re * b._M_im + a._M_im * b._M_re);
    }
    friend __host__ __device__ complex operator/(const complex &a, const complex &b)
    {
        if (b == complex())  // as NumPy: infinite, or not a number, part by part
            return complex(a._M_re / ::fabs(b._M_re), a._M_im / ::fabs(b._M_re));
        // Smith's algorithm (1962): divides by the larger part first, so that its square cannot overflow.
        if (::fabs(b._M_re) >= ::fabs(b._M_im)) {
            T ratio = b._M_im / b._M_re, below = b._M_re + b._M_im * ratio;
            return complex((a._M_re + a._M_im * ratio) / below, (a._M_im - a._M_re * ratio) / below);
        }
        T ratio = b._M_re / b._M_im, below = b._M_re * ratio + b._M_im;
        return complex((a._M_re * ratio + a._M_im) / below, (a._M_im * ratio - a._M_re) / below);
    }
    friend __host__ __device__ bool operator==(const complex &a, const complex &b)
    {
        return a._M_re == b._M_re && a._M_im == b._M_im;
    }
    friend __host__ __device__ bool operator!=(const complex &a, const complex &b) { return !(a == b); }
};

template <class T> __host__ __device__ complex<T> operator+(const complex<T> &z) { return z; }
template <class T> __host__ __device__ complex<T> operator-(const complex<T> &z)
{
    return complex<T>(-z._M_re, -z._M_im);
}

template <class T> __host__ __device__ T real(const complex<T> &z) { return z._M_re; }
template <class T> __host__ __device__ T imag(const complex<T> &z) { return z._M_im; }
template <class T> __host__ __device__ T abs(const complex<T> &z) { return ::hypot(z._M_re, z._M_im); }
template <class T> __host__ __device__ T arg(const complex<T> &z) { return ::atan2(z._M_im, z._M_re); }
template <class T> __host__ __device__ T norm(const complex<T> &z)
{
    return z._M_re * z._M_re + z._M_im * z._M_im;
}
template <class T> __host__ __device__ complex<T> conj(const complex<T> &z)
{
    return complex<T>(z._M_re, -z._M_im);
}
template <class T> __host__ __device__ complex<T> polar(const T &length, const T &angle)
{
    return complex<T>(length * ::cos(angle), length * ::sin(angle));
}

template <class T> __host__ __device__ complex<T> exp(const complex<T> &z)
{
    return polar(T(::exp(z._M_re)), z._M_im);
}
template <class T> __host__ __device__ complex<T> log(const complex<T> &z)
{
    return complex<T>(::log(abs(z)), arg(z));
}
template <class T> __host__ __device__ complex<T> log10(const complex<T> &z)
{
    return log(z) / complex<T>(::log(T(10)));
}
template <class T> __host__ __device__ complex<T> pow(const complex<T> &base, const complex<T> &exponent)
{
    if (base == complex<T>())
        return complex<T>(exponent == complex<T>() ? T(1) : T());
    return exp(exponent * log(base));
}
template <class T, class U> __host__ __device__ complex<T> pow(const complex<T> &base, const U &exponent)
{
    if (U(0.5) != U(0))
        return pow(base, complex<T>(T(exponent)));
    complex<T> result(1), square = exponent < 0 ? complex<T>(1) / base : base;  // an integer: by squaring
    for (unsigned long long left = exponent < 0 ? 0ull - exponent : exponent; left; left /= 2, square *= square)
        if (left % 2)
            result *= square;
    return result;
}
template <class T> __host__ __device__ complex<T> pow(const T &base, const complex<T> &exponent)
{
    return pow(complex<T>(base), exponent);
}
template <class T> __host__ __device__ complex<T> sqrt(const complex<T> &z)
{
    // The root's larger part first: the other follows from z.imag() = 2 · re · im without cancellation.
    T larger = ::sqrt((abs(z) + ::fabs(z._M_re)) / 2);
    if (larger == T())
        return complex<T>();
    T smaller = z._M_im / (2 * larger);
    return z._M_re >= T() ? complex<T>(larger, smaller)
                          : complex<T>(::fabs(smaller), ::copysign(larger, z._M_im));
}
template <class T> __host__ __device__ complex<T> sinh(const complex<T> &z)
{
    return complex<T>(::sinh(z._M_re) * ::cos(z._M_im), ::cosh(z._M_re) * ::sin(z._M_im));
}
template <class T> __host__ __device__ complex<T> cosh(const complex<T> &z)
{
    return complex<T>(::cosh(z._M_re) * ::cos(z._M_im), ::sinh(z._M_re) * ::sin(z._M_im));
}
template <class T> __host__ __device__ complex<T> tanh(const complex<T> &z)
{
    // From the double-angle formulas; beyond 20 the real part is ±1 in double precision.
    if (::fabs(z._M_re) > T(20))
        return complex<T>(::copysign(T(1), z._M_re), T());
    T below = ::cosh(2 * z._M_re) + ::cos(2 * z._M_im);
    return complex<T>(::sinh(2 * z._M_re) / below, ::sin(2 * z._M_im) / below);
}
template <class T> __host__ __device__ complex<T> sin(const complex<T> &z)
{
    return complex<T>(::sin(z._M_re) * ::cosh(z._M_im), ::cos(z._M_re) * ::sinh(z._M_im));
}
template <class T> __host__ __device__ complex<T> cos(const complex<T> &z)
{
    return complex<T>(::cos(z._M_re) * ::cosh(z._M_im), -::sin(z._M_re) * ::sinh(z._M_im));
}
template <class T> __host__ __device__ complex<T> tan(const complex<T> &z)
{
    complex<T> turned = tanh(complex<T>(-z._M_im, z._M_re));  // tan z = −i tanh iz
    return complex<T>(turned._M_im, -turned._M_re);
}

}  // namespace pycuda
}

#endif
