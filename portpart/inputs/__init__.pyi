from .constructors import from_adjacency as from_adjacency, from_edges as from_edges
from .convert import as_graph as as_graph, as_mesh as as_mesh
from .convert_nets import as_hypergraph as as_hypergraph, is_hypergraph as is_hypergraph
from .hypergraphs import (
    NET_FORMATS as NET_FORMATS,
    NETLISTS as NETLISTS,
    is_net_name as is_net_name,
    net_format_of_name as net_format_of_name,
    read_hypergraph as read_hypergraph,
    read_netlist as read_netlist,
)
from .known import FORMATS as FORMATS, MESHIO as MESHIO, format_of_name as format_of_name
from .reading import (
    checked_limit as checked_limit,
    read as read,
    read_mesh as read_mesh,
    read_named as read_named,
    read_with_data as read_with_data,
)
from .row_blocks import RowBlock as RowBlock, row_blocks as row_blocks
from .subgraphs import MAX_HALO as MAX_HALO, Subgraph as Subgraph, subgraphs as subgraphs
