"""Small graphs with wishes of all kinds: what is returned is right, and so is every "infeasible".

``python -m tests.api.brute_force --cases 20000 --seed 1`` goes through many; every case has a
number, which ``--only`` repeats.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from typing import Any

import numpy as np

import portpart
from portpart.errors import InputError
from tests import oracles
from tests.oracles.exhaustive import possible
from tests.oracles.wanted import Case

RECIPES = (("portpart", "default"), ("jet", "default"), ("gkway", "default"),
           ("igkway", "default"), ("gpmetis", "default"), ("portpart", "fast"),
           ("portpart", "strong"))
IMBALANCES = ("0", "0", "0.001", "0.03", "0.1", "0.5")
MAX_BLOCKS = 6
MAX_WITH_CUT = 9
"""Vertices up to which the best cut is looked for as well."""


def drawn_weights(random: np.random.Generator, n: int) -> np.ndarray | None:
    """Vertex weights of some kind."""
    kinds: list[Any] = [
        None, random.integers(0, 4, n), random.integers(1, 10, n), random.choice([3, 5], n),
        random.integers(1, 60, n), 2**40 - random.integers(0, 100, n),
        2 ** random.integers(0, 7, n), random.integers(1, 2**50, n),
        np.where(random.random(n) < 0.2, 40, random.integers(0, 9, n)),
    ]
    weights: np.ndarray | None = kinds[random.integers(len(kinds))]
    return weights


def drawn_case(random: np.random.Generator, max_vertices: int) -> Case:
    """A graph and wishes."""
    n, k = int(random.integers(1, max_vertices + 1)), int(random.integers(1, MAX_BLOCKS + 1))
    edges = random.integers(0, n, (int(random.integers(0, 3 * n)), 2))
    edges = np.unique(np.sort(edges[edges[:, 0] != edges[:, 1]], axis=1), axis=0).reshape(-1, 2)
    graph = portpart.as_graph(
        [(int(u), int(v), int(random.integers(1, 9))) for u, v in edges] + [(n - 1, n - 1, 1)],
        vertex_weights=drawn_weights(random, n))
    share = [1, 2, 3, 5, 0.1, 0.25, 0.5, "1/3"]
    target = [share[i] for i in random.integers(0, len(share), k)]
    fixed = np.where(random.random(n) < random.random() / 2, random.integers(0, k, n), -1)
    mean = sum(oracles.vertex_weights(graph)) // k
    least = int(random.integers(max(1, mean // 2), mean + 2))
    return Case(
        graph=graph, k=k, imbalance=IMBALANCES[random.integers(len(IMBALANCES))],
        target=target if random.random() < 0.4 else None,
        fixed=fixed.astype(np.int32) if random.random() < 0.25 else None,
        initial=random.integers(0, k, n).astype(np.int32) if random.random() < 0.1 else None,
        least=least if random.random() < 0.25 else 0,
    )


def verdict(case: Case, recipe: tuple[str, str], seed: int) -> str:
    """"feasible", "infeasible" or "refused"; raises AssertionError where that is wrong."""
    algorithm, preset = recipe
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = portpart.partition(case.graph, case.k, algorithm=algorithm, preset=preset,
                                        seed=seed, threads=1, **case.options)
        except InputError as refusal:
            result, reason = None, str(refusal)
    if result is None:
        assert "min_block_weight" in reason
        assert not possible(case).any, "refused what can be had"
        return "refused"
    oracles.assert_partition_is_true(case.graph, result, case.k, case.imbalance, case.target,
                                     case.fixed, case.least)
    assert len(caught) == (not result.feasible)
    if not result.feasible:
        assert not possible(case).any, "a partition exists"
        return "infeasible"
    check_feasible(case, result)
    return "feasible"


def check_feasible(case: Case, result: portpart.PartitionResult) -> None:
    """It keeps all bounds, no block is empty without need, and the cut can be had."""
    assert case.keeps_bounds(result.part)
    filled = int((result.block_weights > 0).sum())
    small = case.graph.num_vertices <= MAX_WITH_CUT
    if small or (filled < case.k and case.positive >= case.k):
        best = possible(case, with_cut=small)
        assert best.any
        if case.positive >= case.k:
            assert filled == best.max_filled, "a block is empty without need"
            assert best.min_cut is None or result.cut >= best.min_cut


def run(cases: int, seed: int, max_vertices: int, only: int | None = None) -> Counter[str]:
    """Count the verdicts; the wrong ones are printed."""
    tally: Counter[str] = Counter()
    for number in range(cases) if only is None else [only]:
        random = np.random.default_rng([seed, number])
        case = drawn_case(random, max_vertices)
        recipe = RECIPES[number % len(RECIPES)]
        try:
            tally[verdict(case, recipe, number % 7)] += 1
        except AssertionError as error:
            tally["WRONG"] += 1
            print(f"seed {seed}, case {number}: {' '.join(recipe)}: {error}\n{case}", flush=True)
    return tally


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--vertices", type=int, default=16, help="at most")
    parser.add_argument("--only", type=int, help="the number of a case")
    arguments = parser.parse_args()
    start = time.perf_counter()
    tally = run(arguments.cases, arguments.seed, arguments.vertices, arguments.only)
    counts = ", ".join(f"{count} {what}" for what, count in sorted(tally.items()))
    print(f"seed {arguments.seed}, up to {arguments.vertices} vertices: {counts}; "
          f"{time.perf_counter() - start:.0f} s")
    return int(tally["WRONG"] > 0)


if __name__ == "__main__":
    sys.exit(main())
