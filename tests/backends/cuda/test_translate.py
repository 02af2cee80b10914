"""Generated CUDA C++, executed behind the host's prelude, against Numba value by value."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from portpart.backends.language.types import SCALARS
from tests.backends.expressions_in_both import OPERANDS, assert_same_in_both
from tests.helpers.emulation import host_cuda

pytestmark = pytest.mark.skipif(host_cuda.COMPILER is None, reason=host_cuda.NO_COMPILER)

INTEGERS = ("i8", "i32", "i64", "u8", "u32", "u64")
FLOATS = ("f32", "f64")
ARITHMETIC = ("+", "-", "*", "/", "//", "%", "&", "|", "^")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "//", "%"])
def test_arithmetic(op, tmp_path):
    expressions = [f"{a} {op} {b}" for a, b in itertools.product(OPERANDS, OPERANDS)]
    assert assert_same_in_both(expressions, tmp_path) >= 45


def test_bit_operations_and_shifts(tmp_path):
    names = ("b", *INTEGERS)
    expressions = [f"{a} {op} {b}" for op in "&|^" for a, b in itertools.product(names, names)]
    shifts = [f"{a} {op} ({b} & 63)" for op in ("<<", ">>") for a in INTEGERS for b in INTEGERS
              if b != "u64"]
    assert assert_same_in_both(expressions + shifts, tmp_path, rows=150) >= 100


def test_comparisons_of_every_width_and_sign(tmp_path):
    pairs = [(a, b) for a, b in itertools.product(OPERANDS, OPERANDS) if a <= b]
    expressions = [f"{a} {op} {b}" for op in ("==", "<", ">=") for a, b in pairs]
    constants = [f"u64 {op} {c}" for op in COMPARISONS for c in (0, 5, 2**40, 2**63)]
    assert assert_same_in_both(expressions + constants, tmp_path, rows=150) >= 100


def test_casts_wrap_and_round(tmp_path):
    casts = [str(dtype) for dtype in SCALARS if dtype.kind != "b"]
    expressions = [f"{cast}({name})" for cast in casts for name in ("b", *INTEGERS)]
    expressions += [f"{cast}({name})" for cast in ("float32", "float64") for name in FLOATS]
    # Only in range: elsewhere the result of casting a float is undefined.
    expressions += [f"{cast}(float64(i8) * 0.77)" for cast in ("int8", "int32", "int64")]
    assert assert_same_in_both(expressions, tmp_path) >= 60


def test_unary_operators_min_max_abs_and_choice(tmp_path):
    names = (*INTEGERS, *FLOATS)
    expressions = [f"{op}{a}" for op in "-+~" for a in names] + [f"abs({a})" for a in names]
    expressions += [f"{f}({a}, {b})" for f in ("min", "max") for a, b in
                    itertools.product(names, names) if a <= b]
    expressions += [f"{a} if b else {c}" for a, c in itertools.product(names, names) if a <= c]
    expressions += ["max(i32, 3, i8, -5)", "min(f64, 0.0, 1.0)", "not b", "b if i32 > 0 else not b"]
    assert assert_same_in_both(expressions, tmp_path, rows=150) >= 80


@st.composite
def expressions(draw, depth=3):
    """The text of a random expression; the type rules refuse some of them."""
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        return draw(st.sampled_from([*OPERANDS, "i32", "i64", "u32", "u64", "f64", "1", "-3", "7",
                                     "2147483647", "-9223372036854775808", "uint64(3)", "0.75"]))
    def part():
        return draw(expressions(depth=depth - 1))
    match draw(st.integers(0, 9)):
        case 0 | 1 | 2 | 3:
            return f"({part()} {draw(st.sampled_from(ARITHMETIC))} {part()})"
        case 4:
            amount = f"(int64({draw(st.sampled_from(INTEGERS))}) & 63)"
            return f"({part()} {draw(st.sampled_from(['<<', '>>']))} {amount})"
        case 5:
            word = draw(st.sampled_from(["min", "max"]))
            return f"{word}({part()}, {part()})"
        case 6:
            return f"({part()} if {draw(conditions(depth=depth - 1))} else {part()})"
        case 7:
            return f"{draw(st.sampled_from(['-', '~', '+']))}({part()})"
        case 8:
            return f"abs({part()})"
        case _:
            return f"{draw(st.sampled_from(['float32', 'float64']))}({part()})"


@st.composite
def conditions(draw, depth=2):
    """The text of a random condition."""
    if depth <= 0 or draw(st.booleans()):
        op = draw(st.sampled_from(COMPARISONS))
        return f"({draw(expressions(depth=1))} {op} {draw(expressions(depth=1))})"
    op = draw(st.sampled_from(["and", "or", "and not"]))
    return f"({draw(conditions(depth=depth - 1))} {op} {draw(conditions(depth=depth - 1))})"


@settings(max_examples=4, deadline=None, derandomize=True, database=None,
          phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(st.lists(st.one_of(expressions(), conditions()), min_size=40, max_size=50, unique=True))
def test_random_expressions(tmp_path_factory, texts):
    assert_same_in_both(texts, tmp_path_factory.mktemp("expressions"), rows=200)
