"""Type tags, argument words and tables of programs."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portpart.backends import packing
from portpart.backends.language import kernel
from portpart.backends.program import Element, Launch, Slot
from portpart.errors import InputError, KernelTypeError

ARRAY = Slot("values", np.dtype(np.int32), True)
SCALAR = Slot("amount", np.dtype(np.float32), False)
ABSENT = Slot("weights", None, True)


@kernel
def nothing(i, a, b, c, d):
    """Do nothing."""


@pytest.mark.parametrize(("argument", "tag"), [
    (None, "absent"), (True, "bool"), (np.bool_(True), "bool"), (3, "int64"), (3.0, "float64"),
    (np.int32(3), "int32"), (np.longlong(3), "int64"), (np.uint64(3), "uint64"),
    (np.float32(3), "float32"),
    (np.zeros(3, np.int8), "*int8"), (np.zeros(0, bool), "*bool"),
    (ARRAY, "*int32"), (SCALAR, "float32"), (ABSENT, "absent"),
])
def test_tags(argument, tag):
    assert packing.tag_of(argument) == tag


@pytest.mark.parametrize("argument", [
    "x", [1], np.zeros((1, 1)), np.zeros(9)[::3], np.zeros(3, ">f8"), object(), 1j,
    np.complex64(1), np.str_("x"), np.int16(1), np.zeros(3, np.int16), np.zeros(3, complex),
])
def test_other_arguments_have_no_tag(argument):
    with pytest.raises(KernelTypeError):
        packing.tag_of(argument)


@given(st.integers(-(2**63), 2**63 - 1))
def test_integers_are_their_own_bits(value):
    assert packing.bits_of(value, np.int64) == value
    assert packing.word_of(value) == value


@given(st.sampled_from(["int8", "uint8", "int32", "uint32", "uint64"]), st.data())
def test_narrow_integers_stand_in_the_low_bytes(dtype, data):
    info = np.iinfo(dtype)
    value = data.draw(st.integers(int(info.min), int(info.max)))
    assert np.array([packing.bits_of(value, dtype)]).view(dtype)[0] == value
    assert packing.word_of(np.dtype(dtype).type(value)) == packing.bits_of(value, dtype)


@given(st.floats(allow_nan=False))
def test_floats_keep_their_bits(value):
    assert packing.bits_of(value, np.float64) == struct.unpack("q", struct.pack("d", value))[0]


@pytest.mark.parametrize(("value", "dtype"), [
    (2**31, np.int32), (-1, np.uint8), (2**63, np.int64), (2.5, np.int64), ("x", np.int64),
])
def test_values_that_do_not_fit_are_refused(value, dtype):
    with pytest.raises(InputError, match="cannot be passed"):
        packing.bits_of(value, dtype)


@pytest.mark.parametrize("array", [
    np.zeros(0), np.arange(10, dtype=np.int8), np.arange(10)[3:], np.zeros((3, 4))[1],
    np.arange(6).view(np.ndarray), np.frombuffer(b"12345678", np.int64),
])
def test_addresses_are_those_of_the_data(array):
    assert packing.address_of(array) == array.ctypes.data
    assert packing.word_of(array) == array.ctypes.data


def test_arrays_of_a_gpu_have_no_address_on_the_cpu():
    class OfAGpu:
        ndim, dtype = 1, np.dtype(np.int64)
        flags = np.zeros(1).flags

    table = packing.Table((Slot("values", np.dtype(np.int64), True),))
    table.add_address(Element(Slot("values", np.dtype(np.int64), True), 0))
    with pytest.raises(InputError, match="given to a kernel on the CPU"):
        table.fill({"values": OfAGpu()}, base=0)
    with pytest.raises(InputError, match=r"space\.to_host"):
        packing.word_of(OfAGpu())


def test_table_holds_rows_of_addresses_and_bits():
    table = packing.Table((ARRAY, SCALAR, ABSENT))
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
    table = packing.Table((ARRAY,))
    table.add_address(Element(ARRAY, 0))
    for length in (3, 3, 5, 3):
        values = np.zeros(length, np.int32)
        for _ in range(2):
            assert table.fill({"values": values}, base=0)[0] == values.ctypes.data
    with pytest.raises(KernelTypeError, match="wants an array of int32"):
        table.fill({"values": values.astype(np.int64)}, base=0)


@pytest.mark.parametrize("before", [0, 1, 15, 16])
def test_a_word_alone_shares_its_line_with_no_other(before):
    table = packing.Table((Slot("sizes", np.dtype(np.int64), True, words=2),))
    for word in range(before):
        table.add_constant(word + 1)
    place = table.add_alone()
    words = table.fill({"sizes": (3, 4)}, base=0)
    line = packing.LINE // 8
    assert place % line == 0
    assert words[place:place + line].tolist() == line * [0]
    assert words[words != 0].tolist() == [*range(1, before + 1), 3, 4]


def test_words_stand_behind_the_rows_and_scratch_is_cut_in_order():
    more = Slot("more", np.dtype(np.int64), True, words=1)
    sizes = Slot("sizes", np.dtype(np.int64), True, words=2)
    short = Slot("short", np.dtype(np.int32), True, lambda few: few)
    long = Slot("long", np.dtype(np.int32), True, lambda few: 33 * few + 1)
    table = packing.Table((more, short, sizes, long, ARRAY))
    table.add_row(Launch(Element(sizes, 1), nothing, (short, long, more, ARRAY), 1))
    values = np.zeros(5, np.int32)
    given = {"more": [9], "sizes": (7, -8), "values": values}
    places = table.place_scratch(3)
    assert places == [0, packing.LINE, packing.LINE * (1 + 4)]
    words = table.fill(given, base=1000, scratch=5 * packing.LINE, places=places)
    assert (table.length_of_rows, len(table), len(words)) == (5, 8, 8)
    assert table.place_of(Element(sizes, 1)) == 7
    first = 1000 + 8 * 5
    scratch = [5 * packing.LINE, 6 * packing.LINE]
    assert words.tolist() == [first + 16, *scratch, first, values.ctypes.data, 9, 7, -8]
