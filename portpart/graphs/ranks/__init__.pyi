from .distribution import (
    LocalPart as LocalPart,
    distributed as distributed,
    put_together as put_together,
)
from .from_ranks import distributed_graph as distributed_graph, graph_of_ranks as graph_of_ranks
from .ghosts import (
    GhostRows as GhostRows,
    Route as Route,
    ghost_rows as ghost_rows,
    number_own as number_own,
    owned as owned,
    values_for_ghosts as values_for_ghosts,
    with_ghost_values as with_ghost_values,
)
from .handles import Handles as Handles, Identities as Identities
from .moving import Moved as Moved, move_vertices as move_vertices
from .rank_graph import RankGraph as RankGraph
from .rank_rows import DistributedGraph as DistributedGraph, gathered as gathered
from .regions import SPACING as SPACING, Regions as Regions, grown_regions as grown_regions
from .reverse_arcs import check_reverse_arcs as check_reverse_arcs
