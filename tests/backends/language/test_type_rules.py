"""Type rules against Numba's own type inference, and what they refuse."""

from __future__ import annotations

import ast
import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from portpart.backends.language import (
    atomic_add,
    device,
    int32,
    int64,
    kernel,
    lane,
    team_size,
    team_sum,
    uint64,
    value_or,
)
from portpart.backends.language.infer import infer
from portpart.backends.language.types import (
    ABSENT,
    BOOL,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    SCALARS,
    UINT32,
    UINT64,
    ArrayType,
    Refusal,
    binary_type,
    range_type,
    type_of,
    unary_type,
    unified_type,
)
from portpart.errors import KernelTypeError
from tests.backends.numba_types import dtype_of, numba_type, result_of, unified
from tests.helpers.each import looped

BINARY: dict[type[ast.operator], tuple[Any, Any]] = {
    ast.Add: (operator.add, operator.iadd), ast.Sub: (operator.sub, operator.isub),
    ast.Mult: (operator.mul, operator.imul), ast.Div: (operator.truediv, operator.itruediv),
    ast.FloorDiv: (operator.floordiv, operator.ifloordiv), ast.Mod: (operator.mod, operator.imod),
    ast.BitAnd: (operator.and_, operator.iand), ast.BitOr: (operator.or_, operator.ior),
    ast.BitXor: (operator.xor, operator.ixor), ast.LShift: (operator.lshift, operator.ilshift),
    ast.RShift: (operator.rshift, operator.irshift),
}
UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
PAIRS = list(itertools.product(SCALARS, SCALARS))


def allowed(rule: Callable[..., Any], *arguments: Any) -> Any:
    """Result of a type rule, or None if it refuses."""
    try:
        return rule(*arguments)
    except Refusal:
        return None


@pytest.mark.parametrize("op", BINARY)
def test_operators_have_the_result_types_of_numba(op):
    checked = 0
    for left, right in PAIRS:
        ours = allowed(binary_type, op(), left, right)
        if ours is not None:
            for function in BINARY[op]:
                assert dtype_of(result_of(function, left, right)) == ours, (left, right)
            checked += 1
    assert checked >= 25


@pytest.mark.parametrize("op", UNARY)
def test_unary_operators_have_the_result_types_of_numba(op):
    for operand in SCALARS:
        ours = allowed(unary_type, op(), operand)
        if ours is not None:
            assert dtype_of(result_of(UNARY[op], operand)) == ours, operand


@looped(("left", "right"), PAIRS)
def test_alternatives_unify_as_in_numba(left, right):
    ours = allowed(unified_type, left, right)
    if ours is not None:
        assert unified(left, right) == ours
        if BOOL not in (left, right):
            assert dtype_of(result_of(min, left, right)) == ours


def test_ranges_have_the_loop_variable_of_numba():
    integers = [dtype for dtype in SCALARS if dtype.kind in "iu"]
    for count in (1, 2, 3):
        for arguments in itertools.product(integers, repeat=count):
            ours = allowed(range_type, list(arguments))
            if ours is not None:
                assert result_of(range, *arguments).dtype == numba_type(ours), arguments


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        (np.zeros(3, np.int32), ArrayType(INT32)), (np.zeros(1, np.bool_), ArrayType(BOOL)),
        (np.uint32(3), UINT32), (3, INT64), (2**63, UINT64), (True, BOOL), (np.True_, BOOL),
        (2.5, FLOAT64), (np.float32(2.5), FLOAT32), (None, ABSENT), ("*int32", ArrayType(INT32)),
        ("float64", FLOAT64), ("absent", ABSENT), (INT64, INT64), (ArrayType(INT64),) * 2,
    ],
)
def test_type_of_an_argument(argument, expected):
    assert type_of(argument) == expected


@pytest.mark.parametrize(
    "argument", [np.zeros((2, 2)), np.zeros(3, np.int16), "*float16", 2**64, [1, 2], 1j]
)
def test_type_of_refuses_what_a_kernel_cannot_take(argument):
    with pytest.raises(KernelTypeError):
        type_of(argument)


@device
def first_of(values, i):
    return values[i]


@device
def smaller_first(values, limit):
    if values[0] < limit:
        return values[0]
    return limit


@kernel
def add_up(i, offsets, values, weights, sums, scale):
    total = int64(0)
    for e in range(offsets[i] + lane(), offsets[i + 1], team_size()):
        total += first_of(values, e) * value_or(weights, e, 1)
    total = team_sum(total)
    half = total / 2
    sums[i] = half * scale


def types_of_add_up(weights):
    return (ArrayType(INT32), ArrayType(INT32), weights, ArrayType(FLOAT64), FLOAT64)


def test_inference_finds_variables_calls_and_effects():
    typed = infer(add_up, types_of_add_up(ABSENT))
    assert typed.variables == {"total": INT64, "e": INT64, "half": FLOAT64}
    assert typed.arguments["i"] == INT64
    assert [callee.function.name for callee in typed.devices] == ["first_of"]
    assert typed.devices[0].returns == INT32
    assert typed.has_effects
    assert not typed.devices[0].has_effects


def test_inference_is_done_once_for_each_set_of_types():
    assert infer(add_up, types_of_add_up(ABSENT)) is infer(add_up, types_of_add_up(ABSENT))
    other = infer(add_up, types_of_add_up(ArrayType(INT64)))
    assert other is not infer(add_up, types_of_add_up(ABSENT))


def test_a_device_function_returns_the_wider_of_its_results():
    assert infer(smaller_first, (ArrayType(INT32), INT64)).returns == INT64


WIDE = True


@kernel
def choose_by_constant(i, values, results):
    if WIDE:
        value = int64(values[i])
    else:
        value = values[i]
    results[i] = value


def test_branches_ruled_out_by_a_constant_are_not_typed():
    typed = infer(choose_by_constant, (ArrayType(INT32), ArrayType(INT64)))
    assert typed.variables == {"value": INT64}


# Refusals: each kernel marks the line with the fault, which must be the line named.


@kernel
def narrows(i, values):
    value = values[i]
    value = value + 1  # fault


@kernel
def counts_in_its_own_width(i, values):
    value = values[i]
    value += 1  # fault


@kernel
def becomes_float(i, values):
    value = 0
    value = 0.5  # fault
    values[i] = value


@kernel
def mixes_signs(i, values):
    values[i] = uint64(3) + values[i]  # fault


@kernel
def compares_mixed_signs(i, values):
    if uint64(3) < values[i]:  # fault
        values[i] = 0


@kernel
def stores_a_float(i, values):
    values[i] = 0.5  # fault


@kernel
def conditions_on_a_number(i, values):
    if values[i]:  # fault
        values[i] = 0


@kernel
def loops_on_a_number(i, values):
    while values[i]:  # fault
        values[i] = 0


@kernel
def joins_numbers(i, values):
    if values[i] > 0 and values[i]:  # fault
        values[i] = 0


@kernel
def negates_a_number(i, values):
    if not values[i]:  # fault
        values[i] = 0


@kernel
def indexes_with_a_float(i, values):
    values[i / 2] = 0  # fault


@kernel
def counts_from_the_end(i, values):
    values[-1] = 0  # fault


@kernel
def indexes_a_number(i, values, number):
    values[i] = number[i]  # fault


@kernel
def reads_an_absent_array(i, values, number, absent):
    values[i] = absent[i]  # fault


@kernel
def uses_an_array_as_number(i, values):
    values[i] = values + 1  # fault


@kernel
def orders_two_effects(i, values):
    values[i] = atomic_add(values, 0, 1) - atomic_add(values, 1, 1)  # fault


@kernel
def orders_an_effect_and_a_load(i, values):
    values[i] = values[0] - atomic_add(values, 0, 1)  # fault


@kernel
def overflows_in_a_constant(i, values):
    values[i] = 1 << 63  # fault


@device
def returns_sometimes(values):
    if values[0] > 0:
        return 1


@kernel
def calls_a_device_function_that_returns_sometimes(i, values):
    values[i] = returns_sometimes(values)


@device
def returns_two_types(values):
    if values[0] > 0:
        return 1
    return 0.5  # fault


@kernel
def calls_a_device_function_with_two_types(i, values):
    values[i] = int32(returns_two_types(values))


@kernel
def passes_too_few(i, values):
    values[i] = first_of(values)  # fault


FAULTY = [
    narrows, counts_in_its_own_width, becomes_float, mixes_signs, compares_mixed_signs,
    stores_a_float, conditions_on_a_number, loops_on_a_number, joins_numbers, negates_a_number,
    indexes_with_a_float, counts_from_the_end, indexes_a_number, reads_an_absent_array,
    uses_an_array_as_number, orders_two_effects, orders_an_effect_and_a_load,
    overflows_in_a_constant, calls_a_device_function_with_two_types, passes_too_few,
]


@looped("faulty", FAULTY)
def test_refusals_name_the_line_and_mark_the_source(faulty):
    types = (ArrayType(INT32), FLOAT64, ABSENT)[: len(faulty.parameters) - 1]
    with pytest.raises(KernelTypeError) as caught:
        infer(faulty, types)
    message = str(caught.value)
    head, source, marks = message.split("\n")
    assert head.startswith(f"{__file__}:")
    assert ";" in head
    assert source.endswith("# fault")
    assert "^" in marks


def test_a_value_on_some_paths_only_is_refused():
    with pytest.raises(KernelTypeError, match="some paths return a value"):
        infer(calls_a_device_function_that_returns_sometimes, (ArrayType(INT32),))


def test_the_number_of_arguments_is_checked():
    with pytest.raises(KernelTypeError, match="takes 1 arguments, not 2"):
        infer(narrows, (ArrayType(INT32), INT64))
