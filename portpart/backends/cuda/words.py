"""The kernel words for NVRTC: bit counts, atomics, teams of 1, 8, 32, 256 and 512 lanes.

A block has 256 or 512 threads; a team is one thread, a quarter of a warp, a warp or the block.
"""

from __future__ import annotations

from portpart.backends.cuda.cpp_words import ARITHMETIC, TYPES

_DEVICE_FUNCTIONS = """
namespace pp {

__device__ __forceinline__ float32 float_rest(float32 a, float32 b) { return ::fmodf(a, b); }
__device__ __forceinline__ float64 float_rest(float64 a, float64 b) { return ::fmod(a, b); }
__device__ __forceinline__ float32 float_floor(float32 a) { return ::floorf(a); }
__device__ __forceinline__ float64 float_floor(float64 a) { return ::floor(a); }
__device__ __forceinline__ float32 float_abs(float32 a) { return ::fabsf(a); }
__device__ __forceinline__ float64 float_abs(float64 a) { return ::fabs(a); }
__device__ __forceinline__ int64 popcount(uint64 x) { return __popcll(x); }
__device__ __forceinline__ int64 ctz(uint64 x) { return x == 0 ? 64 : __ffsll(int64(x)) - 1; }
__device__ __forceinline__ int64 clz(uint64 x) { return __clzll(int64(x)); }

}  // namespace pp
"""

_DEVICE_ATOMICS = """
namespace pp {

// An array of a row.  It is not in scratch memory, so the compiler may load from it before a store
// there.
template <class T> __device__ __forceinline__ T* array(const int64* row, int position)
{
    T* const found = argument<T*>(row, position);
    __builtin_assume(__isGlobal(found));
    return found;
}

// CUDA's atomics know no signed 64-bit sum and no signed 64-bit exchange; the bits are the same.
template <class T> struct AtomicWord { typedef T type; };
template <> struct AtomicWord<int64> { typedef uint64 type; };

template <class T> __device__ __forceinline__ T atomic_load(T* array, int64 index)
{
    return *const_cast<volatile T*>(array + index);
}
template <class T>
__device__ __forceinline__ T atomic_add(T* array, int64 index, typename Same<T>::type value)
{
    typedef typename AtomicWord<T>::type U;
    return T(atomicAdd(reinterpret_cast<U*>(array + index), U(value)));
}
// Threads of a warp that come together to the same element share one atomic.
template <class T> __device__ __forceinline__ T next_of(uint32 together, T* array, int64 index)
{
    const uint32 before = together & ((1u << (threadIdx.x % 32)) - 1u);
    T first = 0;
    if (before == 0) first = atomic_add(array, index, T(__popc(together)));
    return __shfl_sync(together, first, __ffs(together) - 1) + T(__popc(before));
}
template <class T> __device__ __forceinline__ T atomic_next(T* array, int64 index)
{
    return next_of(__match_any_sync(__activemask(), uint64(array + index)), array, index);
}
// A word is the same for all threads, except in copies of words in the scratch memory of teams.
template <class T> __device__ __forceinline__ T atomic_next_word(T* words, int64 index)
{
    if (__isShared(words)) return atomic_next(words, index);
    return next_of(__activemask(), words, index);
}
template <class T>
__device__ __forceinline__ T atomic_min(T* array, int64 index, typename Same<T>::type value)
{
    return atomicMin(array + index, value);
}
template <class T>
__device__ __forceinline__ T atomic_max(T* array, int64 index, typename Same<T>::type value)
{
    return atomicMax(array + index, value);
}
template <class T>
__device__ __forceinline__ T atomic_cas(T* array, int64 index, typename Same<T>::type expected,
                                        typename Same<T>::type desired)
{
    typedef typename AtomicWord<T>::type U;
    return T(atomicCAS(reinterpret_cast<U*>(array + index), U(expected), U(desired)));
}

// Only the lanes of one team compete, so a team of one needs no atomic.
template <int TEAM, class T>
__device__ __forceinline__ T team_atomic_add(T* array, int64 index, typename Same<T>::type value)
{
    if (TEAM > 1) return atomic_add(array, index, value);
    const T old = array[index];
    array[index] = wrapped_sum<T>(old, value);
    return old;
}
template <int TEAM, class T>
__device__ __forceinline__ T team_atomic_cas(T* array, int64 index,
                                             typename Same<T>::type expected,
                                             typename Same<T>::type desired)
{
    if (TEAM > 1) return atomic_cas(array, index, expected, desired);
    const T old = array[index];
    if (old == expected) array[index] = desired;
    return old;
}

}  // namespace pp
"""

_DEVICE_TEAM = """
namespace pp {

const int WARP = 32;

// The first item of the own warp.
template <int TEAM> __device__ __forceinline__ int64 first_item()
{
    if (TEAM > WARP) return blockIdx.x;
    return (int64(blockIdx.x) * blockDim.x + threadIdx.x) / WARP * (WARP / TEAM);
}
// The same where warps are dealt to blocks in turn: short lists are work for all multiprocessors.
template <int TEAM> __device__ __forceinline__ int64 first_item(uint32 block)
{
    if (TEAM > WARP) return block;
    return (threadIdx.x / WARP * gridDim.x + block) * (WARP / TEAM);
}
template <int TEAM> __device__ __forceinline__ int64 team_in_warp()
{
    return TEAM < WARP ? threadIdx.x % WARP / TEAM : 0;
}
template <int TEAM> __device__ __forceinline__ int64 item_stride()
{
    return int64(gridDim.x) * (TEAM > WARP ? 1 : blockDim.x / TEAM);
}
template <int TEAM> __device__ __forceinline__ int64 lane() { return threadIdx.x % TEAM; }
template <int TEAM> __device__ __forceinline__ int64 team_size() { return TEAM; }
// Scratch memory of the own team: a block of more than 256 threads has one team with such memory.
// Kernels that follow each other in one launch share it.
template <int TEAM, class T, int SIZE, int NUMBER> __device__ __forceinline__ T* team_array()
{
    __shared__ T of_teams[TEAM > WARP ? 1 : 256 / TEAM][SIZE];
    return of_teams[TEAM > WARP ? 0 : threadIdx.x / TEAM];
}

// The lanes of the own team within the warp: teams of one warp may be at different places.
template <int TEAM> __device__ __forceinline__ uint32 members()
{
    return TEAM >= WARP ? 0xffffffffu
                        : ((1u << (TEAM % WARP)) - 1u) << (threadIdx.x % WARP / TEAM * TEAM);
}
// Both barriers order shared and global memory among the threads that meet there.
template <int TEAM> __device__ __forceinline__ void team_sync()
{
    if (TEAM > WARP) __syncthreads();
    if (TEAM > 1 && TEAM <= WARP) __syncwarp(members<TEAM>());
}

// A barrier of the own team, and of all teams of a warp.
template <int TEAM> __device__ __forceinline__ void meet()
{
    if (TEAM > WARP) __syncthreads(); else __syncwarp();
}

// Shuffles move 32 and 64 bits; narrower values travel as int.
template <class T> struct Shuffled { typedef T type; };
template <> struct Shuffled<bool> { typedef int type; };
template <> struct Shuffled<int8> { typedef int type; };
template <> struct Shuffled<uint8> { typedef int type; };

struct Sum { template <class T> __device__ __forceinline__ T operator()(T a, T b) const
    { return wrapped_sum<T>(a, b); } };
struct Min { template <class T> __device__ __forceinline__ T operator()(T a, T b) const
    { return min<T>(a, b); } };
struct Max { template <class T> __device__ __forceinline__ T operator()(T a, T b) const
    { return max<T>(a, b); } };

template <int WIDTH, class T, class Op> __device__ __forceinline__ T warp_reduce(T value, Op op)
{
    typedef typename Shuffled<T>::type S;
    for (int distance = WIDTH / 2; distance > 0; distance /= 2)
        value = op(value, T(__shfl_xor_sync(members<WIDTH>(), S(value), distance, WIDTH)));
    return value;
}
#if __CUDA_ARCH__ >= 800
// The hardware finds extremes of 32-bit words of a warp at once: the upper words of longer values
// decide, then the lower ones of those whose upper word is the extreme.
__device__ __forceinline__ int32 highest(int32 value) { return __reduce_max_sync(~0u, value); }
__device__ __forceinline__ int32 lowest(int32 value) { return __reduce_min_sync(~0u, value); }
__device__ __forceinline__ int64 highest(int64 value)
{
    const int32 top = highest(int32(value >> 32));
    const uint32 rest = __reduce_max_sync(~0u, int32(value >> 32) == top ? uint32(value) : 0u);
    return int64(uint64(top) << 32 | rest);
}
__device__ __forceinline__ int64 lowest(int64 value)
{
    const int32 top = lowest(int32(value >> 32));
    const uint32 rest = __reduce_min_sync(~0u, int32(value >> 32) == top ? uint32(value) : ~0u);
    return int64(uint64(top) << 32 | rest);
}
template <> __device__ __forceinline__ int32 warp_reduce<WARP>(int32 value, Max)
{
    return highest(value);
}
template <> __device__ __forceinline__ int64 warp_reduce<WARP>(int64 value, Max)
{
    return highest(value);
}
template <> __device__ __forceinline__ int32 warp_reduce<WARP>(int32 value, Min)
{
    return lowest(value);
}
template <> __device__ __forceinline__ int64 warp_reduce<WARP>(int64 value, Min)
{
    return lowest(value);
}
template <> __device__ __forceinline__ int32 warp_reduce<WARP>(int32 value, Sum)
{
    return __reduce_add_sync(~0u, value);
}
#endif
template <int WIDTH, class T> __device__ __forceinline__ T warp_scan(T value)
{
    const int own = threadIdx.x % WIDTH;
    for (int distance = 1; distance < WIDTH; distance *= 2) {
        const T before = __shfl_up_sync(members<WIDTH>(), value, distance, WIDTH);
        if (own >= distance) value = wrapped_sum<T>(value, before);
    }
    return value;
}

// One value per warp of a block, seen by all; the first barrier waits for earlier readers.
template <int TEAM, class T>
__device__ __forceinline__ const T* shared_by_warps(T value, bool writes)
{
    __shared__ T shared[TEAM / WARP];
    __syncthreads();
    if (writes) shared[threadIdx.x / WARP] = value;
    __syncthreads();
    return shared;
}
template <int TEAM, class T, class Op> __device__ __forceinline__ T team_reduce(T value, Op op)
{
    value = warp_reduce<(TEAM < WARP ? TEAM : WARP)>(value, op);
    if constexpr (TEAM > WARP) {
        const T* shared = shared_by_warps<TEAM>(value, threadIdx.x % WARP == 0);
        value = shared[0];
        for (int warp = 1; warp < TEAM / WARP; ++warp) value = op(value, shared[warp]);
    }
    return value;
}
template <int TEAM, class T> __device__ __forceinline__ T team_sum(T value)
{
    return team_reduce<TEAM>(value, Sum());
}
template <int TEAM, class T> __device__ __forceinline__ T team_min(T value)
{
    return team_reduce<TEAM>(value, Min());
}
template <int TEAM, class T> __device__ __forceinline__ T team_max(T value)
{
    return team_reduce<TEAM>(value, Max());
}
template <int TEAM, class T> __device__ __forceinline__ T team_scan(T value)
{
    typedef typename Shuffled<T>::type S;
    value = T(warp_scan<(TEAM < WARP ? TEAM : WARP)>(S(value)));
    if constexpr (TEAM > WARP) {
        const T* shared = shared_by_warps<TEAM>(value, threadIdx.x % WARP == WARP - 1);
        for (int warp = 0; warp < int(threadIdx.x) / WARP; ++warp)
            value = wrapped_sum<T>(value, shared[warp]);
    }
    return value;
}
template <int TEAM, class T> __device__ __forceinline__ T team_last(T value)
{
    typedef typename Shuffled<T>::type S;
    if constexpr (TEAM == 1) return value;
    else if constexpr (TEAM <= WARP)
        return T(__shfl_sync(members<TEAM>(), S(value), TEAM - 1, TEAM));
    else
        return shared_by_warps<TEAM>(value, threadIdx.x == TEAM - 1)[TEAM / WARP - 1];
}

// The same for a subgroup: eight adjacent lanes of a team, or its one lane.
template <int TEAM> constexpr int SUBGROUP = TEAM < 8 ? TEAM : 8;
template <int TEAM> __device__ __forceinline__ int64 subgroup_size() { return SUBGROUP<TEAM>; }
template <int TEAM, class T> __device__ __forceinline__ T subgroup_min(T value)
{ return warp_reduce<SUBGROUP<TEAM>>(value, Min()); }
template <int TEAM, class T> __device__ __forceinline__ T subgroup_scan(T value)
{ return team_scan<SUBGROUP<TEAM>>(value); }
template <int TEAM, class T> __device__ __forceinline__ T subgroup_last(T value)
{ return team_last<SUBGROUP<TEAM>>(value); }

}  // namespace pp
"""

_DEVICE_GRID = """
namespace pp {

// A barrier of all blocks, which must all be running.  Each adds one to the count of arrivals,
// which only grows, and waits for a multiple of their number.  Release and acquire make what any
// thread wrote before visible to all threads behind; fences on both sides take an eighth longer.
struct Grid {
    unsigned long long* const arrivals;
    unsigned long long expected;

    // At its own address there is 0; the next run gets the other one.
    __device__ __forceinline__ Grid(int64 own, int64 next)
        : arrivals(reinterpret_cast<unsigned long long*>(own)), expected(0)
    {
        if (blockIdx.x == 0 && threadIdx.x == 0) *reinterpret_cast<int64*>(next) = 0;
    }

    __device__ __forceinline__ void wait()
    {
        __syncthreads();
        expected += gridDim.x;
        if (threadIdx.x == 0) {
            asm volatile("red.release.gpu.global.add.u64 [%0], 1;"
                         :: "l"(arrivals) : "memory");
            unsigned long long arrived;
            do {
                asm volatile("ld.acquire.gpu.global.u64 %0, [%1];"
                             : "=l"(arrived) : "l"(arrivals) : "memory");
            } while (arrived < expected);
        }
        __syncthreads();
    }
    // Reads a flag that is not changed before all have met again.
    __device__ __forceinline__ bool reads(int64 address)
    {
        return *reinterpret_cast<volatile int64*>(address) != 0;
    }
    // Reads a flag; none goes on before all have read it.
    __device__ __forceinline__ bool sees(int64 address)
    {
        const bool value = reads(address);
        wait();
        return value;
    }
};
// This block's number for launch `number` of `count` side by side. Each launch begins at another
// block, so that those over short lists run at the same time, not in sequence.
__device__ __forceinline__ uint32 block_for(uint32 number, uint32 count)
{
    if (number == 0) return blockIdx.x;
    const uint32 shifted = blockIdx.x + gridDim.x * (count - number) / count;
    return shifted < gridDim.x ? shifted : shifted - gridDim.x;
}
// Adds up the cycles between laps, as the first thread of the grid sees them.
struct Stopwatch {
    int64* const laps;
    int64 last;

    __device__ __forceinline__ explicit Stopwatch(int64 address)
        : laps(reinterpret_cast<int64*>(address)), last(clock64()) {}

    __device__ __forceinline__ void lap(int number)
    {
        if (blockIdx.x > 0 || threadIdx.x > 0) return;
        const int64 now = clock64();
        laps[2 * number] += now - last;
        laps[2 * number + 1] += 1;
        last = now;
    }
};
// The values of a run, as an argument of its kernel: at 1 the address of the plan of its table, at
// 2 of its words, at 3 and 4 of the barriers of all blocks, in this run and in the next one.
template <int N> struct Given { int64 words[N]; };
#define PP_GIVEN(N) const __grid_constant__ pp::Given<N> given

// Each word of the rows is a value and an offset; a plan in memory says which.
__device__ __forceinline__ void make_rows(const int64* given, int64* rows, int count)
{
    const int64* offsets = reinterpret_cast<const int64*>(given[1]);
    const int32* sources = reinterpret_cast<const int32*>(offsets + count);
    for (int i = threadIdx.x; i < count; i += blockDim.x) rows[i] = given[sources[i]] + offsets[i];
    __syncthreads();
}
// The words that launches may change: some are given, others begin with zero.
__device__ __forceinline__ void begin_words(const int64* given, int first, int numbers, int zeros)
{
    int64* words = reinterpret_cast<int64*>(given[2]);
    if (blockIdx.x == 0)
        for (int i = threadIdx.x; i < numbers + zeros; i += blockDim.x)
            words[i] = i < numbers ? given[first + i] : 0;
}

}  // namespace pp
"""

CUDA_PRELUDE = (TYPES + _DEVICE_FUNCTIONS + ARITHMETIC + _DEVICE_ATOMICS + _DEVICE_TEAM
                + _DEVICE_GRID)
"""The text before generated kernels in NVRTC's source."""
