from .arrays import (
    Blocks as Blocks,
    GraphLike as GraphLike,
    MeshLike as MeshLike,
    Numbers as Numbers,
    SparseMatrix as SparseMatrix,
    as_array as as_array,
    first_true as first_true,
    gpu_space_of as gpu_space_of,
    host_array as host_array,
    host_integers as host_integers,
    index_array as index_array,
    is_tensor as is_tensor,
    item_of as item_of,
    owned as owned,
    space_of as space_of,
    weight_array as weight_array,
)
from .block_items import (
    BlockItems as BlockItems,
    LocalItems as LocalItems,
    block_items as block_items,
    block_rows as block_rows,
    known_pairs as known_pairs,
    local_items as local_items,
    merged as merged,
    pairs_of as pairs_of,
    reached as reached,
)
from .blocks import blocks_of as blocks_of, held_blocks as held_blocks, held_number as held_number
from .checks import RowTerms as RowTerms, check_offsets as check_offsets, inspected as inspected
from .copies import (
    copies_of as copies_of,
    degrees_of as degrees_of,
    entries_in_order as entries_in_order,
    induced as induced,
    repeated as repeated,
    rows_in_order as rows_in_order,
)
from .csr import (
    LOW_HALF as LOW_HALF,
    SUM as SUM,
    Runs as Runs,
    directed_rows as directed_rows,
    directions_of as directions_of,
    distinct as distinct,
    narrowed as narrowed,
    tails as tails,
    team_for as team_for,
    team_for_all as team_for_all,
    team_for_longest as team_for_longest,
    turned as turned,
    unpack_arc as unpack_arc,
    unpacked as unpacked,
)
from .elements import mesh_from as mesh_from
from .from_arrays import (
    MAX_VERTICES as MAX_VERTICES,
    ArcReading as ArcReading,
    checked_again as checked_again,
    checked_count as checked_count,
    csr_graph as csr_graph,
    edges_graph as edges_graph,
    with_vertex_weights as with_vertex_weights,
)
from .from_frames import (
    ENDS as ENDS,
    WEIGHTS as WEIGHTS,
    graph_of_frame as graph_of_frame,
    is_frame as is_frame,
)
from .from_matrices import (
    nets_of_matrix as nets_of_matrix,
    parts_of_sparse as parts_of_sparse,
    parts_of_tensor as parts_of_tensor,
    parts_of_tuple as parts_of_tuple,
)
from .from_nets import (
    NetInput as NetInput,
    nets_checked_again as nets_checked_again,
    nets_hypergraph as nets_hypergraph,
    with_weights as with_weights,
)
from .from_networks import (
    NamedEdges as NamedEdges,
    graph_of_edges as graph_of_edges,
    graph_of_igraph as graph_of_igraph,
    graph_of_networkx as graph_of_networkx,
    is_igraph as is_igraph,
    is_networkit as is_networkit,
    is_networkx as is_networkx,
)
from .from_rows import adjacency_graph as adjacency_graph, graph_of_rows as graph_of_rows
from .graph import Graph as Graph
from .graph_models import (
    EDGE_WEIGHT as EDGE_WEIGHT,
    MAX_ARCS as MAX_ARCS,
    copies_of_vertices as copies_of_vertices,
    edge_hypergraph as edge_hypergraph,
    graph_of_pairs as graph_of_pairs,
    neighbourhood_hypergraph as neighbourhood_hypergraph,
    num_pairs as num_pairs,
    plain_graph as plain_graph,
)
from .hypergraph import (
    EitherGraph as EitherGraph,
    Hypergraph as Hypergraph,
    Nets as Nets,
    irregularities as irregularities,
)
from .mesh import Mesh as Mesh
from .names import (
    by_name as by_name,
    did_you_mean as did_you_mean,
    has_hash as has_hash,
    in_order as in_order,
    told_names as told_names,
)
from .nets_of_rows import (
    nets_of_rows as nets_of_rows,
    reader_of_nets as reader_of_nets,
)
from .row_range import (
    MAX_ROWS as MAX_ROWS,
    VERTEX_COST as VERTEX_COST,
    Rows as Rows,
    balanced_borders as balanced_borders,
    checked_range as checked_range,
    checked_rows as checked_rows,
    id_dtype as id_dtype,
)
from .row_store import (
    HALF_MORE as HALF_MORE,
    SPARE_ROWS as SPARE_ROWS,
    TEAM as TEAM,
    EditableRows as EditableRows,
    RowGrowth as RowGrowth,
    RowStore as RowStore,
    bucket_list as bucket_list,
    capacity_for as capacity_for,
    extended as extended,
    place_row as place_row,
    put as put,
    set_capacity as set_capacity,
    set_weight as set_weight,
    with_spare as with_spare,
)
from .structure import (
    MAX_INT32 as MAX_INT32,
    MAX_INT32_ARCS as MAX_INT32_ARCS,
    PLURALS as PLURALS,
    SQUARES as SQUARES,
    Csr as Csr,
    GraphTotals as GraphTotals,
    NetStructure as NetStructure,
    Structure as Structure,
    WithMeasures as WithMeasures,
    aligned as aligned,
    degree_of as degree_of,
    global_id as global_id,
    read_only as read_only,
    rows_of as rows_of,
    shown as shown,
    table as table,
)
from .submesh import Submesh as Submesh
from .topology import (
    MAX_ELEMENTS as MAX_ELEMENTS,
    Topology as Topology,
    checked_topology as checked_topology,
)
from .weights import (
    ABS as ABS,
    IGNORE as IGNORE,
    KEEP as KEEP,
    MAX_TOTAL_WEIGHT as MAX_TOTAL_WEIGHT,
    ROUND as ROUND,
    checked_mode as checked_mode,
    converted as converted,
    exact_total as exact_total,
    integral as integral,
    surveyed_weights as surveyed_weights,
    total_of as total_of,
)
