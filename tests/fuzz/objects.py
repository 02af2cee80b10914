"""Objects that callers may pass for a graph, weights, blocks and numbers, right and odd ones."""

from __future__ import annotations

import array
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sparse

from portpart.inputs.convert import as_graph
from tests.fuzz.samples import graphs
from tests.fuzz.tape import Tape

NUMBERS: list[Any] = [
    0, 1, 2, 3, -1, 2**31 - 1, 2**31, 2**62, 2**63 - 1, 2**63, 2**64, 10**30, 10**5000, 0.5, 1e400,
    float("nan"), -0.0, 1e-300, True, np.int8(2), np.uint64(2**63), np.float32(0.25), np.float16(3),
    np.longdouble(2), Fraction(1, 3), Fraction(1, 10**5000), Decimal("0.03"), Decimal("nan"),
    Decimal("1e99999999"), Decimal("1e-99999999"), "0.03", "3%", "1e99999999", "1/3", "nan", "",
    np.array(2), np.array([2]), 1j, b"2", np.datetime64("2020-01-01"), np.ma.masked]
OTHERS: list[Any] = [
    None, "x", "weight", [], [[]], (), {}, {0: 1}, {"a": 0}, set(), {1, 2}, object(), object, len,
    Ellipsis, NotImplemented, range(3), range(0), b"", b"\0\1", bytearray(4),
    memoryview(b"abcdefgh"), [None], [[1], [2, 3]], ["a", "b"], Path("/nonexistent"), Path("/"),
    "\0", "/dev/null", slice(3),
    np.zeros((2, 2, 2)), np.zeros(0), np.array(None), np.array(["1", "2"]), np.zeros((0, 2)),
    np.array([1, 2], "M8[s]"), np.zeros(3, "i4,f8"), np.ma.masked_array([1, 2])]
DTYPES = ["i8", "i4", "f8", "u4", "i1", "u8", "f4", "f2", ">i8", "O", "?", "c16", "S2", "U3", "g"]
UNFIT = (ValueError, TypeError, OverflowError, RuntimeWarning, np.ma.MaskError)


def number(tape: Tape) -> Any:
    return tape.pick(NUMBERS + OTHERS if tape.chance(4) else NUMBERS)


def values(tape: Tape, count: int) -> Any:
    """About one value for each of `count` things, in some container."""
    size = max(0, count + tape.pick([0] * 6 + [-1, 1, -count]))
    numbers = [tape.below(4) for _ in range(min(size, 3))] + [1] * max(0, size - 3)
    if numbers and tape.chance(4):
        numbers[tape.below(len(numbers))] = number(tape)
    return container(tape, numbers)


def nets(tape: Tape) -> Any:
    """Nets as lists, as offsets and pins, or names of pins, with something odd in some of them."""
    rows: list[Any] = [[tape.below(9) for _ in range(tape.below(5))] for _ in range(5)]
    if tape.chance(6):
        rows[tape.below(5)] = number(tape)
    elif rows[0] and tape.chance(6):
        rows[0][0] = number(tape)
    kind = tape.below(4)
    if kind == 0:
        return rows
    if kind == 1 and all(isinstance(row, list) for row in rows):
        offsets = [sum(map(len, rows[:net])) for net in range(6)]
        return container(tape, offsets), container(tape, [pin for row in rows for pin in row])
    if kind == 2:
        return dict(zip("abcde", rows))
    return tape.pick(OTHERS) if tape.chance(3) else container(tape, rows)


def container(tape: Tape, numbers: list[Any]) -> Any:
    """A list, a tuple, an array of some type and shape ..."""
    kind = tape.below(10)
    if kind == 0:
        return numbers
    if kind == 9:
        return dict(enumerate(numbers))
    if kind == 1:
        return tuple(numbers)
    try:
        made = np.array(numbers, _type(numbers, "i8" if kind == 2 else tape.pick(DTYPES)))
    except UNFIT:
        return numbers
    shapes: list[Callable[[Any], Any]] = [
        lambda a: a, lambda a: a[::-1], lambda a: a.reshape(-1, 1), lambda a: a.reshape(1, -1),
        lambda a: np.ma.masked_array(a, np.arange(len(a)) == 1), lambda a: np.repeat(a, 2)[::2],
        _buffer]
    return tape.pick(shapes)(made)


def _type(numbers: list[Any], wanted: str | None) -> str | None:
    """Objects, where NumPy would make integers of endless decimals."""
    return "O" if any(isinstance(number, Decimal) for number in numbers) else wanted


def _buffer(numbers: Any) -> Any:
    try:
        return array.array("q", numbers.tolist())
    except (TypeError, ValueError, OverflowError):
        return memoryview(np.zeros(3))


def graph(tape: Tape) -> Any:
    """Something that holds a graph, or nearly so."""
    if tape.chance(8):
        return tape.pick(OTHERS + NUMBERS)
    sample = tape.pick(graphs())
    kinds: list[Callable[[Tape, Any], Any]] = [_pairs, _triples, _csr, _sparse, _networkx, _made,
                                               _rows, _dense, _frame]
    return tape.pick(kinds)(tape, sample)


def _pairs(tape: Tape, sample: Any) -> Any:
    pairs: list[Any] = [[u, v] for u, v, _ in sample.edges]
    if pairs and tape.chance(3):
        pairs[tape.below(len(pairs))][tape.below(2)] = number(tape)
    if pairs and tape.chance(6):
        pairs[tape.below(len(pairs))] = tape.pick([[1], [1, 2, 3], None, 5, "ab", (0, 1), []])
    return pairs if tape.chance(3) else _table(tape, pairs)


def _triples(tape: Tape, sample: Any) -> Any:
    triples: list[Any] = [[u, v, w] for u, v, w in sample.edges]
    if triples and tape.chance(2):
        triples[tape.below(len(triples))][tape.below(3)] = number(tape)
    return triples if tape.chance(3) else _table(tape, triples)


def _table(tape: Tape, rows: list[Any]) -> Any:
    try:
        table = np.array(rows, _type([each for row in rows if isinstance(row, list)
                                      for each in row], tape.pick(["i8", None, *DTYPES])))
    except UNFIT:
        return rows
    return tape.pick([table, table, table.T, np.asfortranarray(table), table[:, ::-1] if
                      table.ndim == 2 else table, np.ma.masked_array(table, _first(table.shape))])


def _first(shape: tuple[int, ...]) -> np.ndarray:
    """A mask of the first element."""
    return (np.arange(np.prod(shape, dtype=int)) == 0).reshape(shape)


def _arrays(tape: Tape, sample: Any) -> list[Any]:
    arrays = [np.array(part) for part in sample.csr()]
    for _ in range(tape.below(3)):
        part = arrays[tape.below(3)]
        if part.size and part.dtype.kind in "iu":
            part[tape.below(min(part.size, 250))] = tape.pick([-1, 0, 1, 2, 99, 2**31 - 1])
    return arrays


def _csr(tape: Tape, sample: Any) -> Any:
    parts: list[Any] = _arrays(tape, sample)[: tape.pick([2, 3])]
    if tape.chance(2):
        place = tape.below(len(parts))
        parts[place] = container(tape, parts[place].tolist())
    if tape.chance(8):
        parts[tape.below(len(parts))] = tape.pick(OTHERS + NUMBERS)
    return tuple(parts) if not tape.chance(9) else parts


def _sparse(tape: Tape, sample: Any) -> Any:
    offsets, targets, weights = sample.csr()
    kind = tape.pick([sparse.csr_array, sparse.csr_matrix])
    made = kind((weights.astype(tape.pick(["i8", "f8", "i4", "u1", "c16", "?", "f4"])), targets,
                 offsets), shape=(sample.n, sample.n))
    if tape.chance(3):
        made.indices[:1] = tape.pick([-1, 99, 2**31 - 1])
    if tape.chance(3):
        made.indptr[-1] = tape.pick([-1, 0, 99, 2**31 - 1])
    elif tape.chance(2) and made.nnz and made.indices.max() < sample.n and made.indices.min() >= 0:
        return made.asformat(tape.pick(["csc", "coo", "lil", "dok", "dia", "bsr"]))
    return made


def _networkx(tape: Tape, sample: Any) -> Any:
    made = tape.pick([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])()
    made.add_nodes_from(range(sample.n))
    for u, v, weight in sample.edges:
        made.add_edge(u, v, **({"weight": weight} if sample.weighted else {}))
    if tape.chance(2):
        made.add_edge(tape.pick(["a", 0, 1.5, (1, 2)] if tape.chance(2) else [0]), "b",
                      weight=number(tape))
    if tape.chance(4):
        made.add_node(0, size=number(tape))
    return made


def _made(tape: Tape, sample: Any) -> Any:
    offsets, targets, weights = sample.csr()
    return as_graph((offsets, targets, weights), vertex_weights=sample.masses)


def _rows(tape: Tape, sample: Any) -> Any:
    return [[v for v, _ in row] for row in sample.rows()]


def _frame(tape: Tape, sample: Any) -> Any:
    try:
        import pandas as pd
    except ImportError:
        return _rows(tape, sample)
    names: list[Any] = ["source", "target", "weight"]
    columns = {name: [edge[place] for edge in sample.edges] for place, name in enumerate(names)}
    if sample.edges and tape.chance(2):
        columns[tape.pick(names)][0] = number(tape)
    made = pd.DataFrame(columns, columns=names[: tape.pick([3, 2])])
    if tape.chance(3):
        made.columns = [tape.pick(["a", 0, "weight", "target"]) for _ in made.columns]
    return made


def _dense(tape: Tape, sample: Any) -> Any:
    offsets, targets, weights = sample.csr()
    return sparse.csr_array((weights, targets, offsets), shape=(sample.n,) * 2).toarray()
