from .edits import (
    CONNECT as CONNECT,
    DISCONNECT as DISCONNECT,
    END_NET as END_NET,
    END_VERTEX as END_VERTEX,
    NEW_NET as NEW_NET,
    NEW_VERTEX as NEW_VERTEX,
    WEIGH as WEIGH,
    NetlistEdits as NetlistEdits,
    Steps as Steps,
)
from .netlist import (
    Netlist as Netlist,
    area_of as area_of,
    distinct as distinct,
    named_graph as named_graph,
    read_areas as read_areas,
)
