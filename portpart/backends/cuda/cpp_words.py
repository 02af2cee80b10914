"""Kernel words in C++ that the host's compiler and NVRTC understand: types and arithmetic."""

from __future__ import annotations

TYPES = """\
typedef signed char int8;
typedef int int32;
typedef long long int64;
typedef unsigned char uint8;
typedef unsigned int uint32;
typedef unsigned long long uint64;
typedef float float32;
typedef double float64;
"""
"""The language's scalar types, with the same names."""

COPYING = TYPES + """
namespace {

__device__ __forceinline__ int64 thread() { return int64(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ __forceinline__ int64 threads() { return int64(gridDim.x) * blockDim.x; }

template <class T> __device__ __forceinline__ T* at(int64 address)
{
    return reinterpret_cast<T*>(address);
}

template <class T> __device__ void copy(int64 target, int64 source, int64 count)
{
    for (int64 i = thread(); i < count; i += threads()) at<T>(target)[i] = at<T>(source)[i];
}

__device__ void copy_elements(int64 target, int64 source, int64 count, int64 width)
{
    if (width == 8) copy<int64>(target, source, count);
    else if (width == 4) copy<int32>(target, source, count);
    else copy<int8>(target, source, count * width);
}

}  // namespace
"""
"""For kernels that move elements between addresses with all threads."""

ARITHMETIC = """
namespace pp {

template <class T> struct Same { typedef T type; };
template <class T> struct Bits { typedef T type; };
template <> struct Bits<int8> { typedef uint8 type; };
template <> struct Bits<int32> { typedef uint32 type; };
template <> struct Bits<int64> { typedef uint64 type; };

// Signed overflow is undefined in C++, so sums and products are taken without sign.
template <class T> __device__ __forceinline__ T wrapped_sum(T a, T b)
{
    typedef typename Bits<T>::type U;
    return T(U(U(a) + U(b)));
}

__device__ __forceinline__ int64 add(int64 a, int64 b) { return int64(uint64(a) + uint64(b)); }
__device__ __forceinline__ int64 subtract(int64 a, int64 b) { return int64(uint64(a) - uint64(b)); }
__device__ __forceinline__ int64 multiply(int64 a, int64 b) { return int64(uint64(a) * uint64(b)); }

// Numba negates and inverts in the operand's own width, before it widens.
template <class T> __device__ __forceinline__ T negate(T a)
{
    typedef typename Bits<T>::type U;
    return T(U(0) - U(a));
}
template <class T> __device__ __forceinline__ T invert(T a) { return T(~a); }

// Shifts take their amount modulo 64, as processors do.
template <class T> __device__ __forceinline__ T shift_left(T a, uint64 amount)
{
    return T(uint64(a) << (amount & 63));
}
template <class T> __device__ __forceinline__ T shift_right(T a, uint64 amount)
{
    return a >> (amount & 63);
}

// Division floors; by zero, and of the smallest integer by -1, it gives 0 as Numba does.
template <class T> __device__ __forceinline__ bool undivisible(T a, T b) { return b == 0; }
template <> __device__ __forceinline__ bool undivisible<int64>(int64 a, int64 b)
{
    return b == 0 || (b == -1 && a == -9223372036854775807LL - 1);
}
template <class T> __device__ __forceinline__ T floor_divide(T a, T b)
{
    if (undivisible<T>(a, b)) return 0;
    const T quotient = a / b;
    const T rest = a % b;
    return rest != 0 && ((rest < 0) != (b < 0)) ? quotient - 1 : quotient;
}
template <class T> __device__ __forceinline__ T floor_modulo(T a, T b)
{
    if (undivisible<T>(a, b)) return 0;
    const T rest = a % b;
    return rest != 0 && ((rest < 0) != (b < 0)) ? rest + b : rest;
}

// Python's steps for floating-point numbers (float_divmod in CPython), as in Numba.
template <class T> struct Divided { T quotient; T rest; };
template <class T> __device__ __forceinline__ Divided<T> float_divide(T a, T b)
{
    T rest = float_rest(a, b);
    T quotient = (a - rest) / b;
    if (rest != 0) {
        if ((b < 0) != (rest < 0)) {
            rest += b;
            quotient -= 1;
        }
    } else {
        rest = b < 0 ? -T(0) : T(0);
    }
    if (quotient != 0) {
        T floored = float_floor(quotient);
        quotient = quotient - floored > T(0.5) ? floored + 1 : floored;
    } else {
        quotient = quotient * quotient * a / b;
    }
    return Divided<T>{quotient, rest};
}
template <> __device__ __forceinline__ float32 floor_divide(float32 a, float32 b)
{
    return b == 0 ? a / b : float_divide(a, b).quotient;
}
template <> __device__ __forceinline__ float64 floor_divide(float64 a, float64 b)
{
    return b == 0 ? a / b : float_divide(a, b).quotient;
}
template <> __device__ __forceinline__ float32 floor_modulo(float32 a, float32 b)
{
    return b == 0 ? float_rest(a, b) : float_divide(a, b).rest;
}
template <> __device__ __forceinline__ float64 floor_modulo(float64 a, float64 b)
{
    return b == 0 ? float_rest(a, b) : float_divide(a, b).rest;
}

template <class T> __device__ __forceinline__ T min(T a, T b) { return b < a ? b : a; }
template <class T> __device__ __forceinline__ T max(T a, T b) { return b > a ? b : a; }
template <class T> __device__ __forceinline__ T abs(T a)
{
    typedef typename Bits<T>::type U;
    return a < 0 ? T(U(0) - U(a)) : a;
}
template <> __device__ __forceinline__ float32 abs(float32 a) { return float_abs(a); }
template <> __device__ __forceinline__ float64 abs(float64 a) { return float_abs(a); }
template <class T> __device__ __forceinline__ T infinity() { return T(1e300 * 1e300); }
template <class T> __device__ __forceinline__ T not_a_number()
{
    return infinity<T>() - infinity<T>();
}

__device__ __forceinline__ bool in_range(int64 x, int64 stop, int64 step)
{
    return step > 0 ? x < stop : step < 0 && x > stop;
}

template <class T> __device__ __forceinline__ T argument(const int64* row, int position)
{
    return *reinterpret_cast<const T*>(row + position);
}

}  // namespace pp
"""
"""Operators with the results of Python and Numba. Need float_rest, float_floor and float_abs."""
