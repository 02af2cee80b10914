from .best_prefix import (
    WIDEST as WIDEST,
    apply_all as apply_all,
    exceeds as exceeds,
    record_cut as record_cut,
    relaxed_limits as relaxed_limits,
    weight_offered as weight_offered,
)
from .independent_sets import (
    admits_legal as admits_legal,
    independent_set_refiner as independent_set_refiner,
)
from .move_sequence import (
    MoveSequence as MoveSequence,
    PrefixWords as PrefixWords,
    begin_weights as begin_weights,
    fill_key as fill_key,
    note_gain as note_gain,
    order_by_gain_next as order_by_gain_next,
    order_by_vertex as order_by_vertex,
    record_order as record_order,
    sequence_for as sequence_for,
    sequence_of as sequence_of,
    set_gain as set_gain,
    set_top_gain as set_top_gain,
)
from .requests import two_direction_refiner as two_direction_refiner
