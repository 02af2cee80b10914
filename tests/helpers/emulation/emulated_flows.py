"""Flow refinement for emulated spaces, on a whole level and on a band graph."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import portpart
from portpart import generators
from portpart.algorithms.refinement.flows.band import band_of
from portpart.algorithms.refinement.flows.flow_refiner import FlowRefiner
from portpart.algorithms.refinement.options import FlowOptions
from portpart.backends.programs.interface import ExecutionSpace
from tests import oracles
from tests.helpers.refining import balance_of


def with_flows(space: ExecutionSpace, _: Any) -> np.ndarray:
    """Two blocks of a grid with a rough boundary, after rounds of flow refinement, also on a band
    graph with weights.
    """
    graph, options = generators.grid_2d(10).to(space), FlowOptions(round_limit=3, on_band=True)
    columns, balance = np.arange(100) % 10, balance_of(graph, 2)
    rough = np.random.default_rng(3).integers(0, 2, 100)
    part = space.asarray(np.where(abs(2 * columns - 9) < 4, rough, columns > 4), np.int32)
    rows, steps = np.arange(100) // 10, ((0, 1), (1, 0), (1, 1), (1, -1))
    heavy = portpart.as_graph([  # with diagonals, so that several lanes take a row
        (v, v + 10 * down + right) for v in range(100) for down, right in steps
        if rows[v] + down < 10 and 0 <= columns[v] + right < 10],
        edge_weights=np.full(342, 2)).to(space)
    found = band_of(heavy, space.asarray(columns > 4, np.int32), None, 2, 1)
    assert found is not None
    band, whole = found[0], replace(options, on_band=False)
    FlowRefiner(space, graph, balance, whole, 1).refine(graph, part, None, 9)
    FlowRefiner(space, band.graph, balance, options, 1).refine(*band[:3], 9, band.rest)
    return np.concatenate([oracles.host(part), oracles.host(band.part)])
