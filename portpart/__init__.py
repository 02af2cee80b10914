"""portpart: balanced graph partitioning on GPUs and multicore CPUs, the same bits on both.

>>> import portpart
>>> result = portpart.partition([(0, 1), (1, 2), (2, 3), (3, 0)], 2)
>>> result.cut
2
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from portpart.errors import (
    DeviceUnavailable,
    GraphFormatError,
    InputError,
    OutOfMemory,
    PortpartError,
)

if TYPE_CHECKING:
    from portpart import compat, generators, io, metrics
    from portpart.algorithms.gkway import GkwayConfig
    from portpart.algorithms.gpmetis import GpmetisConfig
    from portpart.algorithms.integrated_mapping import IntegratedConfig
    from portpart.algorithms.jet import JetConfig
    from portpart.algorithms.portpart import PortpartConfig
    from portpart.api import partition
    from portpart.backends import space
    from portpart.constructors import from_adjacency, from_edges
    from portpart.graph import Graph, as_graph
    from portpart.graphs.mesh import Mesh, as_mesh
    from portpart.listing import list_algorithms
    from portpart.mappers import MultisectionConfig, PartitionedConfig
    from portpart.mapping import map_processes
    from portpart.memory import MemoryEstimate, memory_estimate
    from portpart.result import MappingResult, PartitionResult
    from portpart.topology import Topology

__version__ = "0.1.0"

__all__ = [
    "DeviceUnavailable",
    "GkwayConfig",
    "GpmetisConfig",
    "Graph",
    "GraphFormatError",
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
    "Topology",
    "as_graph",
    "as_mesh",
    "compat",
    "from_adjacency",
    "from_edges",
    "generators",
    "io",
    "list_algorithms",
    "map_processes",
    "memory_estimate",
    "metrics",
    "partition",
    "space",
]

_MODULES = ("compat", "generators", "io", "metrics")
_HOMES = {
    "GkwayConfig": "portpart.algorithms.gkway",
    "GpmetisConfig": "portpart.algorithms.gpmetis",
    "Graph": "portpart.graph",
    "IntegratedConfig": "portpart.algorithms.integrated_mapping",
    "JetConfig": "portpart.algorithms.jet",
    "PortpartConfig": "portpart.algorithms.portpart",
    "MappingResult": "portpart.result",
    "MultisectionConfig": "portpart.mappers",
    "PartitionedConfig": "portpart.mappers",
    "MemoryEstimate": "portpart.memory",
    "Mesh": "portpart.graphs.mesh",
    "PartitionResult": "portpart.result",
    "Topology": "portpart.topology",
    "as_graph": "portpart.graph",
    "as_mesh": "portpart.graphs.mesh",
    "from_adjacency": "portpart.constructors",
    "from_edges": "portpart.constructors",
    "list_algorithms": "portpart.listing",
    "map_processes": "portpart.mapping",
    "memory_estimate": "portpart.memory",
    "partition": "portpart.api",
    "space": "portpart.backends",
}


def __getattr__(name: str) -> Any:
    """Import public names on first use, so that importing portpart costs next to nothing."""
    if name in _MODULES:
        return importlib.import_module(f"portpart.{name}")
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'portpart' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__", "__doc__"})
