from .bitset_connectivity import AT_ONCE as AT_ONCE, AtOnce as AtOnce, net_at as net_at
from .candidates import (
    NO_PARTS as NO_PARTS,
    costs_and_weights as costs_and_weights,
    stacked as stacked,
)
from .communication import (
    check_cost as check_cost,
    communication_cost as communication_cost,
    cost_of as cost_of,
)
from .connectivity import Connectivity as Connectivity, ConnectivityTable as ConnectivityTable
from .cut import COUNTING_TEAM as COUNTING_TEAM, CUT as CUT, HUB_TEAM as HUB_TEAM
from .distances import (
    DISTANCE as DISTANCE,
    MAX_COUNTED as MAX_COUNTED,
    Distances as Distances,
    distances_on as distances_on,
)
from .evaluation import Evaluation as Evaluation
from .hub_connectivity import (
    PieceSums as PieceSums,
    add_to_sums as add_to_sums,
    clear_sums_of as clear_sums_of,
    take_row_of_sums as take_row_of_sums,
)
from .limits import AnswerCache as AnswerCache, Balance as Balance, balance_of as balance_of
from .net_connectivity import net_connection as net_connection
from .net_cost import (
    NET_COSTS as NET_COSTS,
    check_net_costs as check_net_costs,
    net_objective as net_objective,
)
from .net_sets import (
    begin_large_net as begin_large_net,
    begin_listing_net as begin_listing_net,
    begin_net as begin_net,
    find_large as find_large,
    find_small as find_small,
    store_large as store_large,
    store_list as store_list,
    store_small as store_small,
    write_list as write_list,
)
from .objective import (
    NUM_FOUND as NUM_FOUND,
    BestTarget as BestTarget,
    BlockScore as BlockScore,
    Objective as Objective,
    Rules as Rules,
    Shape as Shape,
    Tables as Tables,
)
from .pin_counts import (
    add_pins as add_pins,
    move_pin as move_pin,
    restore_counter as restore_counter,
    shift_pin as shift_pin,
)
from .pin_state import (
    ALONE_CHANGED as ALONE_CHANGED,
    BITS as BITS,
    LARGE_TEAM as LARGE_TEAM,
    MAX_SMALL as MAX_SMALL,
    SMALL_TEAM as SMALL_TEAM,
    HubSums as HubSums,
    NetRows as NetRows,
    NetWords as NetWords,
    PinCounts as PinCounts,
    PinSets as PinSets,
    PinStateSizes as PinStateSizes,
    bit_of as bit_of,
    has_words as has_words,
    is_alone as is_alone,
    net_rows as net_rows,
    net_sizes as net_sizes,
    net_words as net_words,
    place_of_word as place_of_word,
    size_of_net as size_of_net,
    words_for as words_for,
)
from .total import (
    cost_of_arcs as cost_of_arcs,
    cost_sums as cost_sums,
    cut_of as cut_of,
    find_sets as find_sets,
    net_values as net_values,
    total_cost as total_cost,
)
