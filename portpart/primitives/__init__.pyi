from .basic import (
    NameIndex as NameIndex,
    converted as converted,
    copy_one as copy_one,
    gather as gather,
    gather_one as gather_one,
    iota as iota,
    lower_bound as lower_bound,
    lower_bounds as lower_bounds,
    name_index as name_index,
    place_of as place_of,
    put_one as put_one,
    put_to as put_to,
    row_at as row_at,
)
from .hashing import (
    EMPTY as EMPTY,
    HIGHEST as HIGHEST,
    LOWEST as LOWEST,
    NO_VERTEX as NO_VERTEX,
    SLOTS as SLOTS,
    claim_slot_in_team as claim_slot_in_team,
    first_slot as first_slot,
    hash_of as hash_of,
    is_drawn as is_drawn,
    mixed as mixed,
    pair_hash as pair_hash,
    team_winner as team_winner,
    wrapped_sum as wrapped_sum,
)
from .histogram import histogram as histogram
from .mail import (
    Mail as Mail,
    MailLayout as MailLayout,
    MailSizes as MailSizes,
    Place as Place,
    count_item as count_item,
    exchanged as exchanged,
    got as got,
    layout_of as layout_of,
    layout_of_types as layout_of_types,
    next_item as next_item,
    put_number as put_number,
    ship as ship,
)
from .messages import (
    Message as Message,
    Part as Part,
    Received as Received,
    Talk as Talk,
    held as held,
)
from .owners import (
    Halo as Halo,
    clear_arrived as clear_arrived,
    clear_parts as clear_parts,
    end_of_entries as end_of_entries,
    ghost_of as ghost_of,
    place_arrived as place_arrived,
    place_parts as place_parts,
    record_prefix as record_prefix,
    record_push as record_push,
)
from .ranks import (
    Groups as Groups,
    Owners as Owners,
    counted as counted,
    even_borders as even_borders,
    grouped as grouped,
    grouping as grouping,
    mark_number as mark_number,
    places_among_ranks as places_among_ranks,
    rank_of as rank_of,
)
from .recorded_sort import (
    SortArrays as SortArrays,
    SortSlots as SortSlots,
    record_sort as record_sort,
    set_keys as set_keys,
    set_largest as set_largest,
    sort_arrays as sort_arrays,
    sort_rows as sort_rows,
    sorted_pairs as sorted_pairs,
    sorted_words as sorted_words,
)
from .reduce import (
    STRIPES as STRIPES,
    TILE as TILE,
    argmax_of as argmax_of,
    inspect_rows as inspect_rows,
    max_of as max_of,
    min_of as min_of,
    row_measures as row_measures,
    rows_above as rows_above,
    sum_of as sum_of,
)
from .scan import (
    SCAN_TILE as SCAN_TILE,
    TEAM as TEAM,
    offsets_from_counts as offsets_from_counts,
    record_scan as record_scan,
    record_scans as record_scans,
    record_scans_of_tiles as record_scans_of_tiles,
    scan_tile as scan_tile,
    scan_tile_sums as scan_tile_sums,
    tiles_of as tiles_of,
)
from .select import positions_of as positions_of
from .sort import sort_keys as sort_keys
