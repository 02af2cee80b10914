"""Tables of programs: rows of packed arguments, and what is bound to their slots."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from portpart.backends.language import Record, Slice, Sliced, Words, kernel, value_or
from portpart.backends.programs import arguments as packing
from portpart.backends.programs.arguments import MAX_LAYOUTS
from portpart.backends.programs.program import Program
from portpart.backends.programs.steps import Element, Launch, Slot
from portpart.backends.programs.table import LINE, ProgramTable
from portpart.errors import InputError, KernelTypeError
from tests.backends.programs.test_packing import ABSENT, ARRAY, SCALAR, OfAGpu

WIDE, NARROW = np.dtype(np.int64), np.dtype(np.int32)


@kernel
def nothing(i, a, b, c, d):
    """Do nothing."""


class Pairs(Sliced, Record):
    """Arrays that may be slices of one."""

    keys: Any
    ranks: Any
    weights: Any


class Counts(Sliced, Words):
    """Words that may be a slice."""

    found: int
    lost: int


@kernel
def count_pairs(i, pairs: Pairs, counts: Counts):
    """Put all to use."""
    counts.found += pairs.keys[i] + pairs.ranks[i]
    counts.lost += value_or(pairs.weights, i, 0)


def test_arrays_of_a_gpu_have_no_address_on_the_cpu():
    table = ProgramTable((Slot("values", np.dtype(np.int64), True),))
    table.add_address(Element(Slot("values", np.dtype(np.int64), True), 0))
    with pytest.raises(InputError, match="given to a kernel on the CPU"):
        table.fill({"values": OfAGpu()}, base=0)


def test_table_holds_rows_of_addresses_and_bits():
    table = ProgramTable((ARRAY, SCALAR, ABSENT))
    first = table.add_row(Launch(Element(ARRAY, 3), nothing, (ARRAY, SCALAR, ABSENT, 17), 1))
    second = table.add_row(Launch(9, nothing, (np.int32(-1), None, 0.5, True), 1))
    flag = table.add_address(Element(ARRAY, 1))
    values = np.zeros(5, np.int32)
    words = table.fill({"values": values, "amount": 1.5, "weights": None}, base=1000)
    start = values.ctypes.data
    assert len(words) == len(table)
    amount = packing.bits_of(1.5, np.float32)
    assert words[first:second].tolist() == [start + 24, start, amount, 0, 17]
    own_size = 1000 + 8 * (second + 5)
    half = packing.bits_of(0.5, np.float64)
    low_bytes = packing.bits_of(np.int32(-1), np.int32)
    assert words[second:flag].tolist() == [own_size, low_bytes, 0, half, 1, 9]
    assert words[flag] == start + 8
    again = table.fill({"values": values[1:], "amount": 1.5, "weights": None}, base=0)
    assert again[first + 1] == start + 4


def test_addresses_are_those_of_the_arrays_bound_now():
    """Also where another array has come to be where one was that is gone."""
    table = ProgramTable((ARRAY,))
    table.add_address(Element(ARRAY, 0))
    for length in (3, 3, 5, 3):
        values = np.zeros(length, np.int32)
        for _ in range(2):
            assert table.fill({"values": values}, base=0)[0] == values.ctypes.data
    with pytest.raises(KernelTypeError, match="needs an array of int32"):
        table.fill({"values": values.astype(np.int64)}, base=0)


def test_rows_follow_from_values_and_a_plan():
    """As a kernel makes them, and as the table itself."""
    more = Slot("more", WIDE, True, words=2)
    kept = Slot("kept", WIDE, True, words=3, zeros=True)
    for rows in (1, 2):
        table = ProgramTable((ARRAY, SCALAR, more, kept))
        for _ in range(rows):
            table.add_row(Launch(Element(more, 1), nothing, (ARRAY, SCALAR, kept, 9), 1))
        values = np.zeros(5, np.int32)
        given = {"values": values, "amount": 1.5, "more": (6, 7)}
        wanted = table.fill(given, base=1000)
        length, size, first, numbers, zeros = table.sizes
        assert (length, numbers, zeros) == (5 * rows, 2, 3)
        plan = table.plan()
        table.bind(given, (1000, 1000 + 8 * length, 0, 0), 0, ())
        seen = (ctypes.c_int64 * size).from_address(table.address_of_values)
        sources = plan[length:].view(np.int32)
        assert [seen[sources[i]] + plan[i] for i in range(length)] == wanted[:length].tolist()
        assert seen[first : first + numbers] == [6, 7] == wanted[length : length + 2].tolist()
        assert wanted[length + 2 :].tolist() == [0, 0, 0]


def test_words_stand_behind_the_rows_and_scratch_is_cut_in_order():
    more = Slot("more", np.dtype(np.int64), True, words=1)
    sizes = Slot("sizes", np.dtype(np.int64), True, words=2)
    short = Slot("short", np.dtype(np.int32), True, lambda few: few)
    long = Slot("long", np.dtype(np.int32), True, lambda few: 33 * few + 1)
    table = ProgramTable((more, short, sizes, long, ARRAY))
    table.add_row(Launch(Element(sizes, 1), nothing, (short, long, more, ARRAY), 1))
    values = np.zeros(5, np.int32)
    given = {"more": [9], "sizes": (7, -8), "values": values}
    places = table.place_scratch(3)
    assert places == [0, LINE, LINE * (1 + 4)]
    words = table.fill(given, base=1000, scratch=5 * LINE, places=places)
    assert (table.sizes.rows, len(table), len(words)) == (5, 8, 8)
    assert table.place_of(Element(sizes, 1)) == 7
    first = 1000 + 8 * 5
    scratch = [5 * LINE, 6 * LINE]
    assert words.tolist() == [first + 16, *scratch, first, values.ctypes.data, 9, 7, -8]


def slices_at(begin: int, length: int) -> dict[str, Slice]:
    """Keys, and ranks behind them."""
    return {"keys": Slice(WIDE, begin, length),
            "ranks": Slice(NARROW, begin + WIDE.itemsize * length, length)}


def test_slices_become_arrays_when_they_are_read():
    memory = np.arange(12, dtype=np.int32)
    pairs = Pairs.sliced(memory, slices_at(8, 2), weights=None)
    assert (pairs.length_of("keys"), pairs.length_of("ranks"), pairs.weights) == (2, 2, None)
    assert pairs.ranks.tolist() == [6, 7]
    assert pairs.keys.tolist() == memory.view(np.int64)[1:3].tolist()
    assert pairs.keys is pairs.keys
    assert np.shares_memory(pairs.keys, memory)
    assert pairs.replaced(keys=memory).keys is memory
    counts = Counts.sliced(memory, {"array": Slice(WIDE, 0, 2)})
    assert counts.lost == memory.view(np.int64)[1]
    assert Pairs(memory, memory, None).length_of("keys") == 12
    with pytest.raises(AttributeError, match="Pairs has no 'values'"):
        pairs.values  # noqa: B018


@pytest.mark.parametrize("weighted", [False, True])
def test_a_program_takes_slices_as_it_takes_arrays(space, weighted):
    """Of several layouts in turns; arrays are made of them only beside other arrays."""
    program = Program(f"slices {weighted}")
    weights = space.asarray(np.array([5, 6, 7, 8])) if weighted else None
    like = Pairs(space.empty(1, WIDE), space.empty(1, NARROW), weights)
    program.record("pairs", like)
    program.record("counts", Counts(space.empty(2, WIDE)))
    program.parallel_for(1, count_pairs, program.records["pairs"], program.records["counts"])
    executable = space.executable(program)
    for begin, length in ((16, 2), (24, 3), (16, 2), (16, 3)):
        host = np.arange(100, 100 + 24, dtype=np.int32)
        host[:4] = 0
        memory = space.asarray(host)
        pairs = Pairs.sliced(memory, slices_at(begin, length), weights=weights)
        counts = Counts.sliced(memory, {"array": Slice(WIDE, 0, 2)})
        executable.run({"pairs": pairs, "counts": counts}, 1)
        key, rank = host.view(np.int64)[begin // 8], host[begin // 4 + 2 * length]
        assert space.to_host(memory).view(np.int64)[:2].tolist() == [key + rank,
                                                                     5 if weighted else 0]
        assert ("keys" in vars(pairs)) == weighted


def test_slices_may_be_replaced_but_not_by_those_of_another_type():
    table = ProgramTable((Slot("pairs.keys", WIDE, True), Slot("pairs.weights", None, True)))
    table.add_address(Element(Slot("pairs.keys", WIDE, True), 1))
    memory = np.zeros(8, np.int32)
    begin = memory.ctypes.data
    given = {"pairs": Pairs.sliced(memory, {"keys": Slice(WIDE, 8, 3)}, weights=None)}
    assert table.fill(given, base=0)[0] == begin + 8 + 8
    others = np.zeros(3, np.int64)
    given = {"pairs": given["pairs"].replaced(keys=others)}
    assert given["pairs"].length_of("keys") == 3
    assert table.fill(given, base=0)[0] == others.ctypes.data + 8
    for wrong in ({"keys": Slice(NARROW, 8, 3)},
                  {"keys": Slice(WIDE, 8, 3), "weights": Slice(WIDE, 0, 1)}):
        with pytest.raises(KernelTypeError, match="needs"):
            table.fill({"pairs": Pairs.sliced(memory, wrong, weights=None)}, base=0)


def test_a_table_remembers_no_more_than_some_layouts():
    table = ProgramTable((Slot("pairs.keys", WIDE, True),))
    table.add_address(Element(Slot("pairs.keys", WIDE, True), 0))
    memory = np.zeros(8 * MAX_LAYOUTS, np.int64)
    for place in range(3 * MAX_LAYOUTS // 2):
        slices = {"keys": Slice(WIDE, 8 * place, 1)}
        for _ in range(2):
            words = table.fill({"pairs": Pairs.sliced(memory, slices)}, base=0)
            assert words[0] == memory.ctypes.data + 8 * place
