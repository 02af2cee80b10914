"""Calls of the public functions with odd objects: a right result comes back, or a typed error."""

from __future__ import annotations

import contextlib
import inspect
from pathlib import Path
from typing import Any

import numpy as np

import portpart
from portpart import io, metrics
from portpart.compat import pymetis
from portpart.errors import InputError
from tests.fuzz import objects
from tests.fuzz.judge import (
    check_edge_partition,
    check_edge_values,
    check_graph,
    check_hypergraph,
    check_partition,
    check_wishes,
    edges_of,
    require,
)
from tests.fuzz.tape import Tape, tape
from tests.oracles import mappings as plain

__all__ = ["check", "tape", "warm"]

BUILDING = ["vertex_weights", "edge_weights", "symmetrize", "weights", "weight_scale"]
METRICS = [metrics.block_weights, metrics.imbalance, metrics.is_balanced, metrics.max_block_weight,
           metrics.components_per_block]
KNOWN = set(inspect.signature(portpart.partition).parameters)


def check(data: bytes, folder: Path) -> None:
    """Make a call as the tape says."""
    decisions = Tape(data)
    calls = [_as_graph] * 5 + [_as_hypergraph] * 4 + [_made] * 2 + [_partition] * 5
    calls += [_edges] * 3 + [_map] * 3 + [_evaluate, _write, _part_graph]
    decisions.pick(calls)(decisions, folder)


def warm() -> None:
    """Compile what calls of the usual types need."""
    for weights in (None, np.ones(24, np.int32) * 2, np.full(24, 2**33)):
        for masses in (None, np.arange(16)):
            grid = portpart.as_graph(portpart.generators.grid_2d(4), edge_weights=None if weights is
                                     None else np.resize(weights, 48), vertex_weights=masses)
            for algorithm in ("portpart", "jet"):
                portpart.partition(grid, 3, algorithm=algorithm)
            portpart.partition(grid, 3, preset="best", rounds=3)
            portpart.partition_edges(grid, 3)
            portpart.partition_edges(grid, 3, preset="best", rounds=3)
            portpart.map_processes(grid, "2:2", "1:10")
            portpart.map_processes(grid, "2:2", "1:10", algorithm="im")


def _as_graph(decisions: Tape, folder: Path) -> None:
    check_graph(portpart.as_graph(objects.graph(decisions), **_building(decisions, 12)))


def _made(decisions: Tape, folder: Path) -> None:
    rows = objects.graph(decisions)
    if decisions.chance(2):
        check_graph(portpart.from_adjacency(rows, **_building(decisions, 12)))
    else:
        count = _some(decisions, [None, 20])
        check_graph(portpart.from_edges(rows, num_vertices=count, **_building(decisions, 12)))


def _as_hypergraph(decisions: Tape, folder: Path) -> None:
    data: Any = decisions.pick([objects.graph, objects.nets])(decisions)
    options: dict[str, Any] = {}
    for name, usual in (("num_vertices", [None, 12]), ("model", ["row-net", "fine-grain"]),
                        ("diagonal", [True, False])):
        if decisions.chance(8):
            options[name] = _some(decisions, usual)
    for name in ("net_weights", "vertex_weights"):
        if decisions.chance(8):
            options[name] = objects.values(decisions, 5)
    made = portpart.as_hypergraph(data, **options)
    check_hypergraph(made, b"", folder)
    part = np.arange(made.num_vertices) % 3
    found = metrics.evaluate(made, part, 3)
    require(0 <= found.cut <= found.km1 <= found.soed, "a metric")


def _partition(decisions: Tape, folder: Path) -> None:
    graph, building, n = _graph(decisions)
    k = 2 if decisions.chance(3) else _some(decisions, [2, 3, 1, 5])
    options = _options(decisions, k, n)
    result = portpart.partition(graph, k, **options, **building)
    made = portpart.as_graph(graph, **building)
    check_partition(made, result, result.k)
    check_wishes(result, options, list(made.names or range(made.num_vertices)))
    if result.k < 1000:
        blocks = result.blocks()
        require(len(blocks) == result.k and sum(map(len, blocks)) == made.num_vertices, "blocks")
        require((result.labels is None) == (made.names is None), "labels")


def _options(decisions: Tape, k: Any, count: int) -> dict[str, Any]:
    """Options of a call that divides `count` vertices or edges."""
    options: dict[str, Any] = {}
    for name, usual in (("imbalance", [0.1, 0.0, 0.5]), ("target", None), ("fixed", None),
                        ("initial", None), ("min_block_weight", [0, 1]), ("starts", [1, 2]),
                        ("time_limit", [1.0]), ("seed", [0, 7]), ("threads", [1, 2]),
                        ("algorithm", ["portpart", "jet"]), ("device", ["cpu", "auto"]),
                        ("preset", ["fast", "default"]), ("progress", [None]),
                        ("rounds", [3, 1, "until_limit"])):  # fmt: skip
        if decisions.chance(6):
            options[name] = (_blocks_or_shares(decisions, name, k, count) if usual is None
                             else _some(decisions, usual))
    if callable(options.get("progress")):  # what it raises is its own
        del options["progress"]
    if "rounds" in options and not decisions.chance(4):
        options["preset"] = "best"
        options.pop("algorithm", None)
    # a large number of starts or rounds, or time without limit, is work that was asked for
    for name in ("starts", "rounds"):
        if isinstance(options.get(name), int) and options[name] > 9:
            del options[name]
    if isinstance(options.get("rounds"), str) and not decisions.chance(4):
        options["time_limit"] = 0.1
    return options


def _blocks_or_shares(decisions: Tape, name: str, k: Any, count: int) -> Any:
    """A share for each block, or a block for each of `count` things; right ones or odd ones."""
    blocks = k if isinstance(k, int) and 0 < k < 100 else 2
    if decisions.chance(2):
        return objects.values(decisions, blocks if name == "target" else count)
    if name == "target":
        return [1 + decisions.below(3) for _ in range(blocks)]
    found = np.full(count, -1 if name == "fixed" else 0)
    found[: min(count, 9)] = [decisions.below(blocks) for _ in range(min(count, 9))]
    return decisions.pick([found, found.tolist(), found.astype("i1")])


def _edges(decisions: Tape, folder: Path) -> None:
    graph, building, _ = _graph(decisions)
    ends: list[Any] = []
    with contextlib.suppress(InputError):
        found = portpart.as_graph(graph, **building)
        ends, names = edges_of(found)[0].tolist(), found.names
        ends = [(u, v) if names is None else (names[u], names[v]) for u, v in ends]
    k = 2 if decisions.chance(3) else _some(decisions, [2, 3, 1, 5])
    options = _options(decisions, k, min(len(ends), 64))
    if ends and "fixed" in options and decisions.chance(2):
        options["fixed"] = {decisions.pick(ends[:200]): decisions.below(3) for _ in range(3)}
    result = portpart.partition_edges(graph, k, **options, **building)
    made = portpart.as_graph(graph, **building)
    check_edge_partition(made, result)
    check_wishes(result, options, ends)
    if ends and decisions.chance(2):
        part = objects.values(decisions, len(ends))
        evaluation = metrics.evaluate_edges(graph, part)
        check_edge_values(portpart.as_graph(graph), np.asarray(part, int), evaluation.k, evaluation)


def _map(decisions: Tape, folder: Path) -> None:
    graph, building, _ = _graph(decisions)
    hierarchy = _some(decisions, ["2:2", [2, 2], "3", (2, 1)])
    distances = _some(decisions, ["1:10", [1, 5], "1", (1, 2)])
    options: dict[str, Any] = {}
    for name, usual in (("imbalance", [0.1, 0.5]), ("algorithm", ["hm", "im", "two-phase"]),
                        ("swaps", [True, False]), ("seed", [3]), ("topology", [None])):
        if decisions.chance(6):
            options[name] = _some(decisions, usual)
    result = portpart.map_processes(graph, hierarchy, distances, **options, **building)
    made = portpart.as_graph(graph, **building)
    check_partition(made, result, result.k)
    machine = result.topology
    costs = plain.level_costs(made, result.part, machine.arities, machine.level_distances)
    require(result.level_costs.tolist() == costs, "costs of the levels")
    require(result.cost == sum(costs), "cost")


def _evaluate(decisions: Tape, folder: Path) -> None:
    graph, _, n = _graph(decisions)
    part = objects.values(decisions, n)
    k = _some(decisions, [None, 4])
    require(np.min(decisions.pick(METRICS)(graph, part, k), initial=0) >= 0, "a metric")
    found = metrics.evaluate(graph, part, k)
    require(0 <= found.cut and found.block_weights.sum() >= 0, "evaluation")


def _write(decisions: Tape, folder: Path) -> None:
    part = objects.values(decisions, 5)
    io.write_partition(part, folder / "part")
    require((io.read_partition(folder / "part", free=True) == np.asarray(part)).all(), "blocks")
    machine = portpart.Topology(_some(decisions, ["2:2"]), _some(decisions, ["1:10"]))
    io.write_rankfile(part, machine, folder / "ranks",
                      hosts=_some(decisions, [None, ["a", "b"], "ab"]))


def _part_graph(decisions: Tape, folder: Path) -> None:
    sample = [[v for v, _ in row] for row in decisions.pick(objects.graphs()).rows()]
    adjacency = objects.graph(decisions) if decisions.chance(3) else sample
    try:
        cut, blocks = pymetis.part_graph(_some(decisions, [2, 3]), adjacency)[:2]
    except (TypeError, ValueError, LookupError, RuntimeError):  # PyMETIS's own, of many kinds
        return
    require(cut >= 0 and min(blocks, default=0) >= 0, "part_graph")


def _graph(decisions: Tape) -> tuple[Any, dict[str, Any], int]:
    """Something like a graph, options that take it, and how many vertices it has, about."""
    if decisions.chance(3):
        sample = decisions.pick(objects.graphs())
        return portpart.as_graph(sample.csr(), vertex_weights=sample.masses), {}, sample.n
    graph, building = objects.graph(decisions), _building(decisions, 24)
    n = 5
    with contextlib.suppress(InputError):
        n = portpart.as_graph(graph, **building).num_vertices
    return graph, building, min(n, 64)


def _building(decisions: Tape, one_in: int) -> dict[str, Any]:
    options: dict[str, Any] = {}
    usual = {"symmetrize": [True, "sum", "max", False], "weight_scale": [1, 1000],
             "weights": ["round", "abs", "ignore", "keep"]}
    for name in BUILDING:
        if decisions.chance(one_in) and name in KNOWN:
            options[name] = (_some(decisions, usual[name]) if name in usual
                             else objects.values(decisions, 7))
    return options


def _some(decisions: Tape, usual: list[Any]) -> Any:
    return objects.number(decisions) if decisions.chance(4) else decisions.pick(usual)
