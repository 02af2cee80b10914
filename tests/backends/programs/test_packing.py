"""Type tags and argument words."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given, strategies as st

from portpart.backends.programs import arguments as packing
from portpart.backends.programs.steps import Slot
from portpart.errors import InputError, KernelTypeError

ARRAY = Slot("values", np.dtype(np.int32), True)
SCALAR = Slot("amount", np.dtype(np.float32), False)
ABSENT = Slot("weights", None, True)


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


class OfAGpu:
    """What looks like an array of a GPU."""

    ndim, dtype = 1, np.dtype(np.int64)
    flags = np.zeros(1).flags


def test_arrays_of_a_gpu_have_no_word_on_the_cpu():
    with pytest.raises(InputError, match=r"space\.to_host"):
        packing.word_of(OfAGpu())
