"""Device functions are written once, as LLVM, for all kernels that call them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from portpart.backends.cpu.module import module_text
from portpart.backends.cpu.space import CpuSpace
from portpart.backends.language import Kernel, Static, device, float64, int64, kernel, popcount
from portpart.backends.language.infer import infer
from portpart.backends.language.types import type_of


@device
def bits(x):
    return popcount(x)


@device
def bits_of_both(x, y):
    return bits(x) + popcount(y)


@kernel
def count_bits(i, values, found):
    found[i] = bits(values[i]) + popcount(values[i] + 1)


@kernel
def count_bits_of_neighbours(i, values, found):
    found[i] = bits_of_both(values[i], values[i] + 1) + bits(values[i])


@dataclass(frozen=True)
class Bonus(Static):
    """What is added; the rest is not read."""

    amount: int
    unread: int = 0


@device
def with_bonus(x, bonus: Bonus):
    return x + bonus.amount


@kernel
def add_both(i, values, found, first: Bonus, second: Bonus):
    found[i] = with_bonus(values[i], first) + 10 * with_bonus(values[i], second)


@device
def half(x):
    return float64(x) / float64(2)


@kernel
def halve_integers_and_floats(i, values, found):
    found[i] = int64(half(values[i]) + half(float64(values[i])))


SAMPLES = [count_bits, count_bits_of_neighbours, halve_integers_and_floats,
           add_both.bound(first=Bonus(1, unread=1), second=Bonus(1, unread=2)),
           add_both.bound(first=Bonus(1), second=Bonus(2))]


def text_of(sample: Kernel) -> str:
    return module_text(infer(sample, (type_of("*int64"), type_of("*int64"))), "sample")


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda each: each.name)
def test_kernels_compute_what_python_computes(sample):
    values, found, expected = np.arange(-3, 60), np.zeros(63, np.int64), np.zeros(63, np.int64)
    CpuSpace(1).parallel_for(len(values), sample, values, found)
    for i in range(len(values)):
        sample(i, values, expected)
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda each: each.name)
def test_each_function_stands_once_in_a_module(sample):
    """LLVM takes no second definition or declaration of a name."""
    heads = [line.partition("(")[0] for line in text_of(sample).splitlines()
             if line.startswith(("define", "declare"))]
    assert len(heads) == len(set(heads))


def test_kernels_have_the_same_text_of_a_function_that_both_call():
    """So it is written for one of them only."""
    of_one, of_other = (
        [text for text in text_of(sample).split("define ") if '@"bits.' in text.partition("(")[0]]
        for sample in (count_bits, count_bits_of_neighbours))
    assert len(of_one) == 1
    assert of_one == of_other
