"""Numbers as people write them, taken exactly; numbers that would never end, refused at once."""

from __future__ import annotations

import math
import time
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.cli import main
from portpart.errors import InputError, shown
from portpart.graphs.topology import Topology
from portpart.metrics import block_weight_limit, block_weight_limits, target_weights
from portpart.options import exact_fraction
from tests.helpers.each import looped

SOON = 2.0
"""Seconds that a refusal may take; the numbers below once took minutes and gigabytes."""

HUGE = 10**5000


@looped(("given", "expected"), [
    ("1/3", Fraction(1, 3)), ("3%", Fraction(3, 100)), (" 0.03 ", Fraction(3, 100)),
    ("2.5 %", Fraction(1, 40)), ("1E-2", Fraction(1, 100)), (".5", Fraction(1, 2)),
    ("1e400", Fraction(10**400)), ("1e-400", Fraction(1, 10**400)), ("-2", Fraction(-2)),
    (0.1, Fraction(1, 10)), (1e-320, Fraction(1, 10**320)), (7, Fraction(7)),
    (Fraction(1, 7), Fraction(1, 7)), (Fraction(1, 10**900), Fraction(1, 10**900)),
    (Decimal("1e-9"), Fraction(1, 10**9)), (Decimal("0.030"), Fraction(3, 100)),
    (np.float32(0.03), Fraction(3, 100)), (np.float64(0.03), Fraction(3, 100)),
    (np.int8(-3), Fraction(-3)), (np.uint64(2**63), Fraction(2**63)),
    (np.array(0.25), Fraction(1, 4)), ("9" * 1000, Fraction(10**1000 - 1)),
])
def test_numbers_are_taken_as_they_are_written(given: Any, expected: Fraction) -> None:
    assert exact_fraction(given) == expected


@looped("given", [
    "", " ", "x", "%", "3%%", "1/0", "1/x", "0x10", "nan", "inf", "-Infinity", "1e", "e5", "1 2",
    float("nan"), float("inf"), np.float32("inf"), Decimal("nan"), Decimal("-inf"), None, True,
    np.True_, [1], (1, 2), b"1", 1j, object(), np.arange(2), np.arange(10**5),
])
def test_what_is_no_finite_number_is_refused(given: Any) -> None:
    with pytest.raises(ValueError, match="it must be a finite number"):
        exact_fraction(given)


@pytest.mark.parametrize("given", [
    "1e99999999", "1e-99999999", "-1E+401", "1e-401%", "1e" + "9" * 5000, "1" * 1001,
    "1/" + "7" * 1001, "0." + "1" * 10**6, Decimal("1e99999999"), Decimal("1e-99999999"),
    HUGE, -HUGE, Fraction(1, HUGE), Fraction(HUGE, 7),
], ids=lambda given: shown(given)[:20])
def test_numbers_without_end_are_refused_at_once(given: Any) -> None:
    begin = time.process_time()
    with pytest.raises(ValueError, match=r"exponent is beyond 400|more than 1000 digits"):
        exact_fraction(given)
    assert time.process_time() - begin < SOON


CALLS = {
    "imbalance": lambda number: portpart.partition([(0, 1)], 2, imbalance=number),
    "target": lambda number: portpart.partition([(0, 1)], 2, target=[number, 1]),
    "imbalance of a mapping": lambda number: portpart.map_processes([(0, 1)], "2", "1",
                                                                    imbalance=number),
    "limit": lambda number: block_weight_limit(10, 2, number),
    "total": lambda number: block_weight_limit(number, 2),
    "blocks": lambda number: block_weight_limits(10, number),
    "shares": lambda number: target_weights(10, 2, [1, number]),
    "k": lambda number: portpart.partition([(0, 1)], number),
    "seed": lambda number: portpart.partition([(0, 1)], 2, seed=number),
    "min_block_weight": lambda number: portpart.partition([(0, 1)], 2, min_block_weight=number),
    "hierarchy": lambda number: Topology([2, number], [1, 2]),
    "distances": lambda number: Topology([2, 2], [1, number]),
    "hierarchy as text": lambda number: Topology(f"2:{number:g}", "1:2"),
}


@looped("number", [Decimal("1e99999999"), Decimal("-1e99999999")])
@looped("call", CALLS.values())
def test_no_call_waits_for_an_exponent(call: Any, number: Decimal) -> None:
    begin = time.process_time()
    with pytest.raises(InputError):
        call(number)
    assert time.process_time() - begin < SOON


@pytest.mark.parametrize("call", [call for name, call in CALLS.items() if "text" not in name],
                         ids=[name for name in CALLS if "text" not in name])
def test_integers_that_cannot_be_written_are_refused_in_one_line(call: Any) -> None:
    with pytest.raises(InputError) as caught:
        call(HUGE)
    assert len(str(caught.value)) < 200


def test_a_limit_of_time_beyond_all_numbers_is_refused() -> None:
    with pytest.raises(InputError, match="time_limit is int of thousands of digits"):
        portpart.partition([(0, 1)], 2, time_limit=HUGE)


def test_a_machine_of_too_many_levels_is_refused() -> None:
    with pytest.raises(InputError, match="are the most"):
        Topology([2**30] * 1000, [1] * 1000)


@pytest.mark.parametrize(("option", "message"), [
    ("--target=1e99999999,1,1", "target[0] is '1e99999999'; its exponent is beyond 400"),
    ("--target=1,1e-99999999,1", "target[1] is '1e-99999999'; its exponent is beyond 400"),
    ("--imbalance=1e-99999999", "exponent is beyond 400"),
    ("--imbalance=1e400", "is beyond 1.8e308"),
    ("--imbalance=x%", "must be a finite number"),
])
def test_the_command_line_refuses_them_too(option: str, message: str, tmp_path: Any,
                                           capsys: pytest.CaptureFixture) -> None:
    path = tmp_path / "s.graph"
    portpart.io.write([(0, 1), (1, 2)], path)
    assert main(["partition", str(path), "-k", "3", option]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_percentages_and_fractions_are_numbers_of_the_api() -> None:
    grid = portpart.generators.grid_2d(8, 8)
    expected = portpart.partition(grid, 3, imbalance=0.03)
    for same in ("3%", " 0.03 ", "3/100", Decimal("0.03"), Fraction(3, 100), np.float32(0.03)):
        result = portpart.partition(grid, 3, imbalance=same)
        assert (result.part == expected.part).all()
        assert (result.block_weight_limits == expected.block_weight_limits).all()


def test_a_target_without_a_common_denominator_is_refused() -> None:
    primes = [p for p in range(2, 20_000) if all(p % q for q in range(2, math.isqrt(p) + 1))]
    with pytest.raises(InputError, match="no common denominator"):
        target_weights(10, len(primes), [Fraction(1, p) for p in primes])
    tenths = [1 / p for p in primes]
    assert sum(target_weights(10**9, len(tenths), tenths)) >= 10**9


def test_what_cannot_be_shown_is_described() -> None:
    assert shown(HUGE) == "int of thousands of digits"
    assert shown("x" * 100) == "'" + "x" * 56 + "..."


HUGE_FRACTION = Fraction(1, HUGE)


@pytest.mark.parametrize(("name", "odd"), [
    ("symmetrize", HUGE_FRACTION), ("weights", HUGE_FRACTION), ("weight_scale", HUGE_FRACTION),
    ("device", HUGE_FRACTION), ("algorithm", HUGE_FRACTION), ("preset", HUGE_FRACTION),
    ("progress", HUGE_FRACTION), ("fixed", [0, [1]]), ("initial", [[0], [1, 0]]),
    ("vertex_weights", [HUGE, [1]]), ("fixed", ["x", "y"]),
])
def test_odd_options_are_refused_in_one_line(name: str, odd: Any) -> None:
    with pytest.raises(InputError) as caught:
        portpart.partition([(0, 1)], 2, **{name: odd})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("k", ["x", 2.5, len, 0, HUGE, 2**31 - 1], ids=shown)
def test_numbers_of_blocks_that_cannot_be_are_refused(k: Any) -> None:
    with pytest.raises(InputError, match="k is "):
        portpart.metrics.evaluate([(0, 1)], [0, 1], k)
    with pytest.raises(InputError, match="k is "):
        portpart.partition([(0, 1)], k)


def test_dates_are_no_graph() -> None:
    with pytest.raises(InputError):
        portpart.partition(np.array([[1, 2]], "M8[s]"), 2)


def test_empty_partitions_of_any_type_are_written(tmp_path: Any) -> None:
    for empty in ([], np.zeros(0, "c16"), np.zeros(0, "U3"), np.zeros(0, object)):
        portpart.io.write_partition(empty, tmp_path / "part")
        portpart.io.write_rankfile(empty, Topology("2", "1"), tmp_path / "ranks")
        assert (tmp_path / "part").read_bytes() == (tmp_path / "ranks").read_bytes() == b""


ODD_ENTRIES = [HUGE, [1, 2], Decimal("1e99999999"), None, np.arange(3)]


@pytest.mark.parametrize("odd", ODD_ENTRIES, ids=shown)
def test_odd_entries_of_frames_are_refused_or_names(odd: Any) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"source": [0, 1], "target": pandas.Series([odd, 2], dtype=object)})
    with pytest.raises(InputError):
        portpart.as_graph(frame)


def test_a_huge_number_of_vertices_is_refused_in_one_line() -> None:
    with pytest.raises(InputError, match="num_vertices is int of thousands of digits"):
        portpart.from_edges([(0, 1)], num_vertices=HUGE)


def test_a_sparse_matrix_is_no_list_of_neighbours() -> None:
    for form in ("csr", "bsr"):
        with pytest.raises(InputError, match=r"as_graph\(matrix\)"):
            portpart.from_adjacency(portpart.generators.grid_2d(3).to_scipy().asformat(form))


def test_places_in_a_saved_matrix_must_be_integers(tmp_path: Any) -> None:
    path = tmp_path / "m.npz"
    np.savez(path, format="coo", shape=(3, 3), data=[1, 1], row=[0, 1], col=[1.0, float("nan")])
    with pytest.raises(InputError, match="col is of type float64"):
        portpart.io.read(path)


def test_a_matrix_that_scipy_cannot_turn_into_rows_is_refused() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    texts = sparse.dia_array((np.array([["1", "2"]]), [0]), shape=(2, 2))
    with pytest.raises(InputError, match="has no compressed rows"):
        portpart.as_graph(texts)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u2"])
def test_vertex_numbers_of_frames_are_of_any_type(dtype: str) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"source": np.array([0, 1], dtype), "target": np.array([1, 2], dtype)})
    assert portpart.as_graph(frame).num_edges == 2
