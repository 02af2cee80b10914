"""What `import portpart` offers, and that all of it is documented."""

from __future__ import annotations

import inspect
from pathlib import Path

import portpart

PUBLIC = {
    "DeviceUnavailable",
    "EdgePartitionResult",
    "GkwayConfig",
    "GpmetisConfig",
    "Graph",
    "GraphFormatError",
    "Hypergraph",
    "HypergConfig",
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
    "partition_edges",
    "plot",
    "read_distributed",
    "repartition",
    "row_blocks",
    "space",
    "subgraphs",
}

PARTITION_PARAMETERS = {
    "graph": inspect.Parameter.empty,
    "k": inspect.Parameter.empty,
    "imbalance": 0.03,
    "vertex_weights": None,
    "edge_weights": None,
    "net_weights": None,
    "target": None,
    "fixed": None,
    "initial": None,
    "min_block_weight": None,
    "objective": None,
    "vertex_sizes": None,
    "algorithm": None,
    "preset": "default",
    "device": "auto", "devices": None,
    "seed": 0,
    "threads": None,
    "starts": None,
    "time_limit": None, "rounds": None,
    "symmetrize": False,
    "weights": None,
    "weight_scale": None,
    "progress": None,
}


def test_public_names_are_these() -> None:
    assert set(portpart.__all__) == PUBLIC


def test_every_public_name_exists_and_is_documented() -> None:
    for name in PUBLIC:
        assert (getattr(portpart, name).__doc__ or "").strip(), name


def test_partition_has_the_promised_parameters_and_defaults() -> None:
    parameters = inspect.signature(portpart.partition).parameters
    assert {name: parameter.default for name, parameter in parameters.items()} == (
        PARTITION_PARAMETERS
    )


def test_mappings_are_asked_for_as_partitions_are() -> None:
    parameters = inspect.signature(portpart.map_processes).parameters
    own = {"k", "devices", "min_block_weight", "net_weights", "objective", "vertex_sizes",
           "rounds"}
    assert {name: parameters[name].default for name in PARTITION_PARAMETERS if name not in own} == {
        name: default for name, default in PARTITION_PARAMETERS.items() if name not in own}


def test_every_error_is_a_portpart_error() -> None:
    errors = [value for name in PUBLIC if inspect.isclass(value := getattr(portpart, name))
              and issubclass(value, Exception)]  # fmt: skip
    assert len(errors) == 5
    assert all(issubclass(error, portpart.PortpartError) for error in errors)


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(portpart.__file__).parent / "py.typed").exists()
