"""A partition by several devices of one process; each has a range of the rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from portpart import backends
from portpart.api.call_options import CallOptions
from portpart.api.device import graph_on_device, to_callers_memory, warn_of_percents
from portpart.api.rank_call import check_options, divided
from portpart.api.request import constraints_of
from portpart.api.results import PartitionResult
from portpart.backends import language as kl
from portpart.backends.communication import Communicator, Local, planned
from portpart.backends.programs import Array, ExecutionSpace
from portpart.errors import InputError, memory_errors, shown
from portpart.graphs import MAX_INT32_ARCS, VERTEX_COST, Graph, GraphLike, Rows, balanced_borders
from portpart.graphs.ranks import distributed
from portpart.inputs import is_hypergraph
from portpart.options import checked_integer

ALL = "all"

MAX_DEVICES = 1024

PAYS_FROM = 10**9
"""With fewer arcs one GPU is as fast as several."""

ADVICE = f"below {PAYS_FROM // 10**9} billion arcs one GPU is as fast as several"

INSTEAD = "use one device instead: leave devices out"


def partition_on_devices(graph: GraphLike, asked: CallOptions) -> PartitionResult:
    """Partition a graph by several devices."""
    if asked.device != "auto":
        raise InputError(f"device is {shown(asked.device)} and devices {shown(asked.devices)}; "
                         "give one of them")
    assert asked.devices is not None
    spaces = spaces_of(asked.devices)
    if is_hypergraph(graph):
        raise InputError(f"several devices can only partition graphs, not hypergraphs; {INSTEAD}")
    of_ranks = replace(asked, devices=None, threads=None, vertex_weights=None, edge_weights=None,
                       net_weights=None, symmetrize=False, weights=None, weight_scale=None)
    check_options(of_ranks, INSTEAD)
    options = asked.checked()
    with memory_errors():
        whole = graph_on_device(graph, options)
        wanted = constraints_of(whole, options)
        first = balanced_borders(partial(_offset_at, whole), whole.num_vertices, whole.num_arcs,
                                 len(spaces), VERTEX_COST)

        def main(comm: Communicator) -> tuple[dict[str, Any], str]:
            begin, end = first[comm.rank : comm.rank + 2]
            space = spaces[comm.rank]
            with space.active():
                fixed, initial = (
                    None if each is None else _brought(space, whole.space, each[begin:end])
                    for each in (wanted.fixed, wanted.initial))
                # rows have no name, so they are freed when the rank has made its part of the graph
                return divided(
                    distributed(comm, planned(comm, lambda: _rows(whole, begin, end, space))),
                    replace(of_ranks, fixed=fixed, initial=initial, begin=time.perf_counter()))

        found = Local(len(spaces)).run(main)
        with whole.space.active():
            part = _joined(whole.space, spaces, [each.pop("part") for each, _ in found])
    warn_of_percents(asked.imbalance, 5)
    facts, problem = found[0]
    if problem:
        warnings.warn(problem, UserWarning, stacklevel=4)
    stats = {**facts["stats"], "devices": [space.name for space in spaces]}
    if spaces[0].kind == "cuda" and whole.num_arcs < PAYS_FROM:
        stats["advice"] = ADVICE
    return PartitionResult(**{**facts, "part": to_callers_memory(part, graph, whole.space),
                              "stats": stats, "labels": whole.names})


def spaces_of(devices: str | Sequence[int | str]) -> list[ExecutionSpace]:
    """Return the spaces of devices.

    Parameters
    ----------
    devices : sequence of (int or str), or "all"
        Numbers of GPUs, or names of devices; devices may be repeated.

    Raises
    ------
    InputError
        If the argument is something else, empty, or contains both CPUs and GPUs.
    DeviceUnavailable
        If a device cannot be used, or there is none.
    """
    if isinstance(devices, str):
        if devices != ALL:
            raise InputError(f"devices is {shown(devices)}; it must be 'all' or a list such as "
                             "[0, 1]")
        return backends.gpus()
    try:
        names = list(devices)
    except TypeError:
        raise InputError(f"devices is {shown(devices)}; it must be 'all' or a list such as "
                         "[0, 1]") from None
    if not 0 < len(names) <= MAX_DEVICES:
        raise InputError(f"there are {len(names)} devices; there must be 1 to {MAX_DEVICES}")
    spaces = [backends.space(each if isinstance(each, str) else
                             f"cuda:{checked_integer('a device', each, 0, MAX_DEVICES)}")
              for each in names]
    if len({space.kind for space in spaces}) > 1:
        raise InputError(f"devices is {shown(names)}; they must be all GPUs, or all 'cpu'")
    return spaces


def _offset_at(graph: Graph, v: int) -> int:
    """Return the number of arcs of the vertices before v."""
    return int(graph.space.to_host(graph.offsets[v : v + 1])[0])


def _rows(graph: Graph, first: int, last: int, space: ExecutionSpace) -> Rows:
    """Return rows of a range of a graph, in the memory of a space.

    If types allow, they are slices of the graph's arrays.
    """
    begin, end = _offset_at(graph, first), _offset_at(graph, last)
    here = graph.space

    def moved(values: Array | None, low: int, high: int) -> Array | None:
        return None if values is None else _brought(space, here, values[low:high])

    offsets = here.empty(last - first + 1, np.int32 if end - begin <= MAX_INT32_ARCS else np.int64)
    here.parallel_for(len(offsets), shift_offset, graph.offsets[first:], begin, offsets)
    targets = moved(graph.targets, begin, end)
    assert targets is not None
    return Rows(first, graph.num_vertices, _brought(space, here, offsets), targets,
                moved(graph.weights, begin, end), moved(graph.vertex_weights, first, last), space)


def _brought(space: ExecutionSpace, there: ExecutionSpace, values: Array) -> Array:
    """Return an array in the memory of a space; it may be there already."""
    if space.name == there.name:
        return values
    return space.asarray(values if space.kind == there.kind else there.to_host(values))


def _joined(space: ExecutionSpace, spaces: Sequence[ExecutionSpace], parts: list[Array]) -> Array:
    """Join the blocks of all vertices in the memory of a space; drop the parts one by one."""
    result, end = space.empty(sum(map(len, parts)), np.int32), 0
    for there in spaces:
        part = _brought(space, there, parts.pop(0))
        result[end : (end := end + len(part))] = part
    return result


@kl.kernel
def shift_offset(v, offsets, begin, result):
    """result[v] = the offset of v, counted from `begin`."""
    result[v] = kl.int64(offsets[v]) - begin
