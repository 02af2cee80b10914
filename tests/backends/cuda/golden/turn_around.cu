namespace turn_around_a8316c4b_ {

constexpr int TEAM = 32;

// turn_around in golden_kernels.py:85
__device__ __forceinline__ void body(int64 i, float64* values)
{
    float64* const own = pp::team_array<TEAM, float64, 4, 0>();
    for (int64 k = pp::lane<TEAM>(), k_end = 4LL; k < k_end; k = pp::add(k, pp::team_size<TEAM>())) {
        own[k] = values[pp::add(pp::multiply(4LL, i), k)];
    }
    pp::team_sync<TEAM>();
    for (int64 k = pp::lane<TEAM>(), k_end = 4LL; k < k_end; k = pp::add(k, pp::team_size<TEAM>())) {
        values[pp::add(pp::multiply(4LL, i), k)] = own[pp::subtract(3LL, k)];
    }
}

}  // namespace turn_around_a8316c4b_

extern "C" __global__ void __launch_bounds__(256) turn_around_a8316c4b(int64 count, float64* values)
{
    for (int64 first = pp::first_item<turn_around_a8316c4b_::TEAM>(); first < count; first += pp::item_stride<turn_around_a8316c4b_::TEAM>()) {
        const int64 item = first + pp::team_in_warp<turn_around_a8316c4b_::TEAM>();
        if (item < count) turn_around_a8316c4b_::body(item, values);
        pp::meet<turn_around_a8316c4b_::TEAM>();
    }
}

extern "C" __global__ void __launch_bounds__(256) turn_around_a8316c4b_packed(const int64* row)
{
    const int64 count = *pp::argument<int64*>(row, 0);
    float64* const values = pp::array<float64>(row, 1);
    for (int64 first = pp::first_item<turn_around_a8316c4b_::TEAM>(); first < count; first += pp::item_stride<turn_around_a8316c4b_::TEAM>()) {
        const int64 item = first + pp::team_in_warp<turn_around_a8316c4b_::TEAM>();
        if (item < count) turn_around_a8316c4b_::body(item, values);
        pp::meet<turn_around_a8316c4b_::TEAM>();
    }
}
