from .best_sequence import sequence_refiner as sequence_refiner
from .constrained import constrained_on_nets as constrained_on_nets
from .lists import empty_lists as empty_lists, list_net as list_net, unlist as unlist
from .move_order import ORDERS as ORDERS
from .moves import (
    NetUpdate as NetUpdate,
    affects_gains as affects_gains,
    concerns_few as concerns_few,
    update_net as update_net,
)
from .state import (
    NET_PIECES as NET_PIECES,
    ListWords as ListWords,
    NetLists as NetLists,
    list_words as list_words,
    net_bytes as net_bytes,
    refined as refined,
)
from .steps import (
    NetPropagation as NetPropagation,
    NetSteps as NetSteps,
    jet_on_nets as jet_on_nets,
)
