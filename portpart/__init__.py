"""portpart: balanced graph partitioning on GPUs and multicore CPUs, the same bits on both.

>>> import portpart
>>> result = portpart.partition([(0, 1), (1, 2), (2, 3), (3, 0)], 2)
>>> result.cut
2
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from portpart.api.version import __version__ as __version__
from portpart.errors import (
    DeviceUnavailable,
    GraphFormatError,
    InputError,
    OutOfMemory,
    PortpartError,
)

if TYPE_CHECKING:
    from portpart import compat, generators, io, metrics, plot
    from portpart.algorithms.gkway import GkwayConfig
    from portpart.algorithms.gpmetis import GpmetisConfig
    from portpart.algorithms.hierarchical_mapping import MultisectionConfig
    from portpart.algorithms.hyperg import HypergConfig
    from portpart.algorithms.igkway import IgkwayConfig
    from portpart.algorithms.ihyperg import IhypergConfig
    from portpart.algorithms.integrated_mapping import IntegratedConfig
    from portpart.algorithms.jet import JetConfig
    from portpart.algorithms.mappers import PartitionedConfig
    from portpart.algorithms.portpart import PortpartConfig
    from portpart.algorithms.portpart_nets import HypergraphConfig
    from portpart.api.listing import list_algorithms
    from portpart.api.map_processes import map_processes
    from portpart.api.memory import memory_estimate
    from portpart.api.memory_model import MemoryEstimate
    from portpart.api.partition import partition
    from portpart.api.rank_results import RankPartitionResult
    from portpart.api.repartition import repartition
    from portpart.api.results import MappingResult, PartitionResult, RepartitionResult
    from portpart.api.session import Session
    from portpart.api.session_update import SessionUpdate
    from portpart.backends import space
    from portpart.graphs.constructors import from_adjacency, from_edges
    from portpart.graphs.convert import as_graph
    from portpart.graphs.convert_mesh import as_mesh
    from portpart.graphs.convert_nets import as_hypergraph
    from portpart.graphs.from_ranks import distributed_graph
    from portpart.graphs.graph import Graph
    from portpart.graphs.hypergraph import Hypergraph
    from portpart.graphs.mesh import Mesh
    from portpart.graphs.rank_graph import RankGraph
    from portpart.graphs.row_blocks import RowBlock, row_blocks
    from portpart.graphs.subgraphs import Subgraph, subgraphs
    from portpart.graphs.submesh import Submesh
    from portpart.graphs.topology import Topology
    from portpart.io.rank_reading import read_distributed

__all__ = [
    "DeviceUnavailable",
    "GkwayConfig",
    "GpmetisConfig",
    "Graph",
    "GraphFormatError",
    "HypergConfig",
    "Hypergraph",
    "HypergraphConfig",
    "IgkwayConfig",
    "IhypergConfig",
    "InputError",
    "IntegratedConfig",
    "JetConfig",
    "MappingResult",
    "MemoryEstimate",
    "Mesh",
    "MultisectionConfig",
    "OutOfMemory",
    "PartitionResult",
    "PartitionedConfig",
    "PortpartConfig",
    "PortpartError",
    "RankGraph",
    "RankPartitionResult",
    "RepartitionResult",
    "RowBlock",
    "Session",
    "SessionUpdate",
    "Subgraph",
    "Submesh",
    "Topology",
    "as_graph",
    "as_hypergraph",
    "as_mesh",
    "compat",
    "distributed_graph",
    "from_adjacency",
    "from_edges",
    "generators",
    "io",
    "list_algorithms",
    "map_processes",
    "memory_estimate",
    "metrics",
    "partition",
    "plot",
    "read_distributed",
    "repartition",
    "row_blocks",
    "space",
    "subgraphs",
]

_MODULES = ("compat", "generators", "io", "metrics", "plot")
_HOMES = {
    "GkwayConfig": "portpart.algorithms.gkway",
    "GpmetisConfig": "portpart.algorithms.gpmetis",
    "Graph": "portpart.graphs.graph",
    "Hypergraph": "portpart.graphs.hypergraph",
    "HypergConfig": "portpart.algorithms.hyperg",
    "IgkwayConfig": "portpart.algorithms.igkway",
    "IhypergConfig": "portpart.algorithms.ihyperg",
    "IntegratedConfig": "portpart.algorithms.integrated_mapping",
    "JetConfig": "portpart.algorithms.jet",
    "PortpartConfig": "portpart.algorithms.portpart",
    "HypergraphConfig": "portpart.algorithms.portpart_nets",
    "MappingResult": "portpart.api.results",
    "MultisectionConfig": "portpart.algorithms.hierarchical_mapping",
    "PartitionedConfig": "portpart.algorithms.mappers",
    "MemoryEstimate": "portpart.api.memory_model",
    "Mesh": "portpart.graphs.mesh",
    "PartitionResult": "portpart.api.results",
    "RankGraph": "portpart.graphs.rank_graph",
    "RankPartitionResult": "portpart.api.rank_results",
    "RepartitionResult": "portpart.api.results",
    "RowBlock": "portpart.graphs.row_blocks",
    "Session": "portpart.api.session",
    "SessionUpdate": "portpart.api.session_update",
    "Subgraph": "portpart.graphs.subgraphs",
    "Submesh": "portpart.graphs.submesh",
    "Topology": "portpart.graphs.topology",
    "as_graph": "portpart.graphs.convert",
    "as_hypergraph": "portpart.graphs.convert_nets",
    "as_mesh": "portpart.graphs.convert_mesh",
    "distributed_graph": "portpart.graphs.from_ranks",
    "from_adjacency": "portpart.graphs.constructors",
    "from_edges": "portpart.graphs.constructors",
    "list_algorithms": "portpart.api.listing",
    "map_processes": "portpart.api.map_processes",
    "memory_estimate": "portpart.api.memory",
    "partition": "portpart.api.partition",
    "read_distributed": "portpart.io.rank_reading",
    "repartition": "portpart.api.repartition",
    "row_blocks": "portpart.graphs.row_blocks",
    "space": "portpart.backends",
    "subgraphs": "portpart.graphs.subgraphs",
}


def __getattr__(name: str) -> Any:
    """Import public names on first use, so that importing portpart costs next to nothing."""
    if name in _MODULES:
        return _module(f"portpart.{name}")
    if name in _HOMES:
        value = getattr(_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'portpart' has no attribute {name!r}")


def _module(name: str) -> Any:
    from portpart.backends.interrupts import late_signals

    with late_signals():  # NumPy cannot be imported again after Ctrl-C
        return importlib.import_module(name)


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__", "__doc__"})
