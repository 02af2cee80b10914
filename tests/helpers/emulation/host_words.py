"""The kernel words for the host's C++ compiler: a team is one lane, one thread does all the work.

Behind this prelude the tests compile and execute the very text that a GPU gets.  It includes no
header and needs a compiler that knows GCC's built-in functions.
"""

from __future__ import annotations

from portpart.backends.cuda.cpp_words import ARITHMETIC, TYPES

_HOST_STAND_INS = """\
#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __shared__
#define __launch_bounds__(...)
"""

_HOST_FUNCTIONS = """
namespace pp {

inline float32 float_rest(float32 a, float32 b) { return __builtin_fmodf(a, b); }
inline float64 float_rest(float64 a, float64 b) { return __builtin_fmod(a, b); }
inline float32 float_floor(float32 a) { return __builtin_floorf(a); }
inline float64 float_floor(float64 a) { return __builtin_floor(a); }
inline float32 float_abs(float32 a) { return __builtin_fabsf(a); }
inline float64 float_abs(float64 a) { return __builtin_fabs(a); }
inline int64 popcount(uint64 x) { return __builtin_popcountll(x); }
inline int64 ctz(uint64 x) { return x == 0 ? 64 : __builtin_ctzll(x); }
inline int64 clz(uint64 x) { return x == 0 ? 64 : __builtin_clzll(x); }

}  // namespace pp
"""

_HOST_TEAM = """
namespace pp {

template <class T> inline T* array(const int64* row, int position)
{
    return argument<T*>(row, position);
}
template <int TEAM> inline int64 first_item(uint32 = 0) { return 0; }
inline uint32 block_for(uint32, uint32) { return 0; }
template <int TEAM> inline int64 item_stride() { return 1; }
template <int TEAM> inline int64 team_in_warp() { return 0; }
template <int TEAM> inline void meet() {}
template <int TEAM> inline int64 lane() { return 0; }
template <int TEAM> inline int64 team_size() { return 1; }
template <int TEAM, class T, int SIZE, int NUMBER> inline T* team_array()
{
    static T own[SIZE];
    return own;
}
template <int TEAM> inline void team_sync() {}
template <int TEAM, class T> inline T team_sum(T value) { return value; }
template <int TEAM, class T> inline T team_max(T value) { return value; }
template <int TEAM, class T> inline T team_min(T value) { return value; }
template <int TEAM, class T> inline T team_scan(T value) { return value; }
template <int TEAM, class T> inline T team_last(T value) { return value; }
template <int TEAM> inline int64 subgroup_size() { return 1; }
template <int TEAM, class T> inline T subgroup_min(T value) { return value; }
template <int TEAM, class T> inline T subgroup_scan(T value) { return value; }
template <int TEAM, class T> inline T subgroup_last(T value) { return value; }

struct Grid {
    Grid(int64, int64) {}
    void wait() {}
    bool reads(int64 address) { return *reinterpret_cast<int64*>(address) != 0; }
    bool sees(int64 address) { return reads(address); }
};
template <int N> struct Given { int64 words[N]; };
#define PP_GIVEN(N) const pp::Given<N>& given
inline void make_rows(const int64* given, int64* rows, int count)
{
    const int64* offsets = reinterpret_cast<const int64*>(given[1]);
    const int32* sources = reinterpret_cast<const int32*>(offsets + count);
    for (int i = 0; i < count; ++i) rows[i] = given[sources[i]] + offsets[i];
}
inline void begin_words(const int64* given, int first, int numbers, int zeros)
{
    int64* words = reinterpret_cast<int64*>(given[2]);
    for (int i = 0; i < numbers + zeros; ++i) words[i] = i < numbers ? given[first + i] : 0;
}

template <class T> inline T exchanged(T* place, T value)
{
    const T old = *place;
    *place = value;
    return old;
}
template <class T> inline T atomic_load(T* array, int64 index) { return array[index]; }
template <class T> inline T atomic_add(T* array, int64 index, typename Same<T>::type value)
{
    return exchanged(array + index, wrapped_sum<T>(array[index], value));
}
template <class T> inline T atomic_next(T* array, int64 index)
{
    return atomic_add(array, index, T(1));
}
template <class T> inline T atomic_next_word(T* words, int64 index)
{
    return atomic_next(words, index);
}
template <class T> inline T atomic_min(T* array, int64 index, typename Same<T>::type value)
{
    return exchanged(array + index, min<T>(array[index], value));
}
template <class T> inline T atomic_max(T* array, int64 index, typename Same<T>::type value)
{
    return exchanged(array + index, max<T>(array[index], value));
}
template <class T>
inline T atomic_cas(T* array, int64 index, typename Same<T>::type expected,
                    typename Same<T>::type desired)
{
    return array[index] == expected ? exchanged(array + index, desired) : array[index];
}
template <int TEAM, class T>
inline T team_atomic_add(T* array, int64 index, typename Same<T>::type value)
{
    return atomic_add(array, index, value);
}
template <int TEAM, class T>
inline T team_atomic_cas(T* array, int64 index, typename Same<T>::type expected,
                         typename Same<T>::type desired)
{
    return atomic_cas(array, index, expected, desired);
}

}  // namespace pp
"""

HOST_PRELUDE = _HOST_STAND_INS + TYPES + _HOST_FUNCTIONS + ARITHMETIC + _HOST_TEAM
"""What stands before generated kernels in the source that the host's compiler gets."""

GRID = """
struct Place { unsigned int x; };
static Place threadIdx, blockIdx, blockDim, gridDim;
extern "C" void set_place(const unsigned int* places)
{
    Place* all[] = {&threadIdx, &blockIdx, &blockDim, &gridDim};
    for (int i = 0; i < 4; ++i) all[i]->x = places[i];
}
"""
"""Where the thread of a kernel is that the host runs."""
