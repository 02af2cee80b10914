namespace count_internal_arcs_18a2323a_ {

constexpr int TEAM = 1;

// count_internal_arcs in golden_kernels.py:23
__device__ __forceinline__ void body(int64 v, int32* offsets, int32* targets, int32* part, int64* internal)
{
    int64 same = 0LL;
    for (int32 e = offsets[v], e_end = offsets[pp::add(v, 1LL)]; e < e_end; e += 1) {
        if (part[targets[e]] == part[v]) {
            same = pp::add(same, 1LL);
        }
    }
    internal[v] = same;
}

}  // namespace count_internal_arcs_18a2323a_

extern "C" __global__ void __launch_bounds__(256) count_internal_arcs_18a2323a(int64 count, int32* offsets, int32* targets, int32* part, int64* internal)
{
    for (int64 first = pp::first_item<count_internal_arcs_18a2323a_::TEAM>(); first < count; first += pp::item_stride<count_internal_arcs_18a2323a_::TEAM>()) {
        const int64 item = first + pp::team_in_warp<count_internal_arcs_18a2323a_::TEAM>();
        if (item < count) count_internal_arcs_18a2323a_::body(item, offsets, targets, part, internal);
    }
}

extern "C" __global__ void __launch_bounds__(256) count_internal_arcs_18a2323a_packed(const int64* row)
{
    const int64 count = *pp::argument<int64*>(row, 0);
    int32* const offsets = pp::array<int32>(row, 1);
    int32* const targets = pp::array<int32>(row, 2);
    int32* const part = pp::array<int32>(row, 3);
    int64* const internal = pp::array<int64>(row, 4);
    for (int64 first = pp::first_item<count_internal_arcs_18a2323a_::TEAM>(); first < count; first += pp::item_stride<count_internal_arcs_18a2323a_::TEAM>()) {
        const int64 item = first + pp::team_in_warp<count_internal_arcs_18a2323a_::TEAM>();
        if (item < count) count_internal_arcs_18a2323a_::body(item, offsets, targets, part, internal);
    }
}
