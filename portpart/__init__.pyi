from . import compat as compat, generators as generators, io as io, metrics as metrics, plot as plot
from .algorithms.mapping import (
    IntegratedConfig as IntegratedConfig,
    MultisectionConfig as MultisectionConfig,
    PartitionedConfig as PartitionedConfig,
    list_algorithms as list_algorithms,
)
from .algorithms.recipes import (
    GkwayConfig as GkwayConfig,
    GpmetisConfig as GpmetisConfig,
    HypergConfig as HypergConfig,
    HypergraphConfig as HypergraphConfig,
    IgkwayConfig as IgkwayConfig,
    IhypergConfig as IhypergConfig,
    JetConfig as JetConfig,
    PortpartConfig as PortpartConfig,
)
from .api import (
    EdgePartitionResult as EdgePartitionResult,
    MappingResult as MappingResult,
    PartitionResult as PartitionResult,
    RankPartitionResult as RankPartitionResult,
    RepartitionResult as RepartitionResult,
    map_processes as map_processes,
    memory_estimate as memory_estimate,
    partition as partition,
    partition_edges as partition_edges,
    repartition as repartition,
)
from .backends import space as space
from .errors import (
    DeviceUnavailable as DeviceUnavailable,
    GraphFormatError as GraphFormatError,
    InputError as InputError,
    OutOfMemory as OutOfMemory,
    PortpartError as PortpartError,
)
from .estimate import MemoryEstimate as MemoryEstimate
from .graphs import (
    Graph as Graph,
    Hypergraph as Hypergraph,
    Mesh as Mesh,
    Submesh as Submesh,
    Topology as Topology,
)
from .graphs.ranks import RankGraph as RankGraph, distributed_graph as distributed_graph
from .inputs import (
    RowBlock as RowBlock,
    Subgraph as Subgraph,
    as_graph as as_graph,
    as_hypergraph as as_hypergraph,
    as_mesh as as_mesh,
    from_adjacency as from_adjacency,
    from_edges as from_edges,
    row_blocks as row_blocks,
    subgraphs as subgraphs,
)
from .io.rank_reading import read_distributed as read_distributed
from .sessions import Session as Session, SessionUpdate as SessionUpdate

__version__: str
