namespace keep_paying_moves_58888503_ {

constexpr int TEAM = 8;

// mixed in golden_kernels.py:33
__device__ __forceinline__ uint32 mixed(int32 key, int64 seed)
{
    uint64 bits = uint64(key) ^ uint64(seed);
    bits = bits ^ pp::shift_right<uint64>(bits, 33LL);
    bits = bits * 18397679294719823053ULL;
    return uint32(pp::shift_right<uint64>(bits, 32LL));
}

// mixed in golden_kernels.py:33
__device__ __forceinline__ uint32 mixed_(int64 key, int64 seed)
{
    uint64 bits = uint64(key) ^ uint64(seed);
    bits = bits ^ pp::shift_right<uint64>(bits, 33LL);
    bits = bits * 18397679294719823053ULL;
    return uint32(pp::shift_right<uint64>(bits, 32LL));
}

// goes_first in golden_kernels.py:42
__device__ __forceinline__ bool goes_first(int64* gain, int32 v, int64 u)
{
    if (gain[v] != gain[u]) {
        return gain[v] > gain[u];
    }
    uint32 first = mixed(v, 7LL);
    uint32 second = mixed_(u, 7LL);
    return (first < second) || ((first == second) && (v < u));
}

// keep_paying_moves in golden_kernels.py:52
__device__ __forceinline__ void body(int64 u, int64* offsets, int32* targets, int32* part, int32* wish, int64* gain, bool* keep, int32* kept)
{
    int32 here = part[u];
    int32 there = wish[u];
    int64 total = 0LL;
    for (int64 arc = pp::add(offsets[u], pp::lane<TEAM>()), arc_end = offsets[pp::add(u, 1LL)]; arc < arc_end; arc = pp::add(arc, pp::team_size<TEAM>())) {
        int32 v = targets[arc];
        int32 block = part[v];
        if (goes_first(gain, v, u)) {
            block = wish[v];
        }
        int64 saved = pp::subtract(int64(block == there), int64(block == here));
        total = pp::add(total, pp::multiply(1LL, saved));
    }
    total = pp::team_sum<TEAM>(total);
    if (pp::lane<TEAM>() == 0LL) {
        keep[u] = (here != there) && (total >= 0LL);
        if (total >= 0LL) {
            pp::atomic_add(kept, 0LL, int32(1));
        }
    }
}

}  // namespace keep_paying_moves_58888503_

extern "C" __global__ void __launch_bounds__(256) keep_paying_moves_58888503(int64 count, int64* offsets, int32* targets, int32* part, int32* wish, int64* gain, bool* keep, int32* kept)
{
    for (int64 first = pp::first_item<keep_paying_moves_58888503_::TEAM>(); first < count; first += pp::item_stride<keep_paying_moves_58888503_::TEAM>()) {
        const int64 item = first + pp::team_in_warp<keep_paying_moves_58888503_::TEAM>();
        if (item < count) keep_paying_moves_58888503_::body(item, offsets, targets, part, wish, gain, keep, kept);
        pp::meet<keep_paying_moves_58888503_::TEAM>();
    }
}

extern "C" __global__ void __launch_bounds__(256) keep_paying_moves_58888503_packed(const int64* row)
{
    const int64 count = *pp::argument<int64*>(row, 0);
    int64* const offsets = pp::array<int64>(row, 1);
    int32* const targets = pp::array<int32>(row, 2);
    int32* const part = pp::array<int32>(row, 4);
    int32* const wish = pp::array<int32>(row, 5);
    int64* const gain = pp::array<int64>(row, 6);
    bool* const keep = pp::array<bool>(row, 7);
    int32* const kept = pp::array<int32>(row, 8);
    for (int64 first = pp::first_item<keep_paying_moves_58888503_::TEAM>(); first < count; first += pp::item_stride<keep_paying_moves_58888503_::TEAM>()) {
        const int64 item = first + pp::team_in_warp<keep_paying_moves_58888503_::TEAM>();
        if (item < count) keep_paying_moves_58888503_::body(item, offsets, targets, part, wish, gain, keep, kept);
        pp::meet<keep_paying_moves_58888503_::TEAM>();
    }
}
