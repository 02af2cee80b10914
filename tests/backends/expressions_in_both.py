"""Evaluates expressions of the kernel language with both writers and, to compare, with Numba.

The same text is compiled three times: as a plain Python function by Numba's njit, and as a kernel
that is written as LLVM for the CPU space, and translated to CUDA C++ for the host's compiler.
"""

from __future__ import annotations

import importlib.util
import itertools
import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numba.cpython.numbers
import numpy as np
import pytest

from portpart.backends.cpu.driver_module import MAX_ARGUMENTS
from portpart.backends.cpu.space import CpuSpace
from portpart.backends.language.infer import infer
from portpart.backends.language.types import SCALARS
from portpart.backends.programs.interface import ExecutionSpace
from portpart.errors import KernelTypeError
from tests.backends.numba_types import dtype_of
from tests.helpers.emulation.host_cuda import HostCudaSpace

OPERANDS = {"b": "bool", "i8": "int8", "i32": "int32", "i64": "int64", "u8": "uint8",
            "u32": "uint32", "u64": "uint64", "f32": "float32", "f64": "float64"}
"""Name and dtype of the operands that an expression may use."""

_WORDS = "from portpart.backends.language import *\nfrom portpart.backends.language import kernel\n"
_numbers = itertools.count()


def operand_values(rows: int) -> dict[str, np.ndarray]:
    """Arrays of the operands: extremes and small numbers in every combination of luck."""
    chance = random.Random(7)
    return {
        name: np.array([chance.choice(_choices(np.dtype(dtype))) for _ in range(rows)], dtype)
        for name, dtype in OPERANDS.items()
    }


def _choices(dtype: np.dtype) -> list[Any]:
    small = [0, 1, 2, 3, 5, 7, 63, 100]
    if dtype.kind == "b":
        return [False, True]
    if dtype.kind == "f":
        below = [0.0, -0.0, 0.5, 1.0, -1.0, 2.5, -7.25, 1e-30, 3e30, -1e10, np.inf, -np.inf, np.nan]
        return [*below, 0.1, 123456789.0, -3.0, 7.0, 2.0**31, 2.0**53]
    limits = np.iinfo(dtype)
    extremes = [limits.max, limits.max - 1, limits.min, limits.min + 1, limits.max // 3]
    negative = [-number for number in small] if dtype.kind == "i" else []
    return small + negative + [int(number) for number in extremes]


def load_module(text: str, folder: Path) -> ModuleType:
    """Import `text` from a file of its own, as the checker reads source from files."""
    name = f"generated_{next(_numbers)}"
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def accepted(expressions: list[str], folder: Path) -> dict[str, np.dtype]:
    """The expressions that the type rules accept, with their types."""
    names = ", ".join(OPERANDS)
    functions = "".join(
        f"@device\ndef e{number}({names}):\n    return {expression}\n"
        for number, expression in enumerate(expressions)
    )
    module = load_module(_WORDS + functions, folder)
    types = {}
    for number, expression in enumerate(expressions):
        function = getattr(module, f"e{number}")
        try:
            typed = infer(function, tuple(np.dtype(dtype) for dtype in OPERANDS.values()))
        except KernelTypeError:
            continue
        types[expression] = typed.returns
    return types


def in_cpp(types: dict[str, np.dtype], values: dict[str, np.ndarray],
           folder: Path) -> dict[str, np.ndarray]:
    """Results of the expressions by the translator and the host's C++ compiler."""
    return _in_space(HostCudaSpace(), types, values, folder)


def in_llvm(types: dict[str, np.dtype], values: dict[str, np.ndarray],
            folder: Path) -> dict[str, np.ndarray]:
    """Results of the expressions in the CPU space, which takes some tens of arguments."""
    some = MAX_ARGUMENTS - len(values)
    results = {}
    for first in range(0, len(types), some):
        part = dict(itertools.islice(types.items(), first, first + some))
        results |= _in_space(CpuSpace(threads=1), part, values, folder)
    return results


def _in_space(space: ExecutionSpace, types: dict[str, np.dtype], values: dict[str, np.ndarray],
              folder: Path) -> dict[str, np.ndarray]:
    results = _empty(types, values)
    module = load_module(f"{_WORDS}@kernel\ndef run(i, {_text(types, '    ')}", folder)
    space.parallel_for(_rows(values), module.run, *values.values(), *results.values())
    return results


def in_numba(types: dict[str, np.dtype], values: dict[str, np.ndarray],
             folder: Path) -> tuple[dict[str, np.ndarray], dict[str, np.dtype]]:
    """Results of the expressions by Numba, and the types that it infers.

    Those of one dtype are rows of one array: each array of a call takes as long as ten expressions.
    """
    dtypes = list(types.values())
    tables = {dtype: np.zeros((dtypes.count(dtype), _rows(values)), dtype) for dtype in dtypes}
    rows = [dtypes[:number].count(dtype) for number, dtype in enumerate(dtypes)]
    casts = ", ".join(str(dtype) for dtype in SCALARS if dtype.kind != "b")
    names = ", ".join(f"all_{name}" for name in (*OPERANDS, *tables))
    lines = [f"from numba import njit\nfrom numba.types import {casts}\n",
             f'@njit(error_model="numpy")\ndef run(n, {names}):\n    for i in range(n):',
             *(f"        {name} = all_{name}[i]" for name in OPERANDS)]
    for number, (expression, dtype) in enumerate(types.items()):
        lines += [f"        x{number} = {expression}",
                  f"        all_{dtype}[{rows[number]}, i] = x{number}"]
    module = load_module("\n".join(lines), folder)
    with pytest.MonkeyPatch.context() as patch:
        # Numba tells LLVM that signed sums never overflow; without that they wrap, as ours do.
        patch.setattr(numba.cpython.numbers, "_int_arith_flags", lambda result: [])
        module.run(_rows(values), *values.values(), *tables.values())
    (compiled,) = module.run.overloads.values()
    found = compiled.type_annotation.typemap
    results = {expression: tables[dtype][rows[number]]
               for number, (expression, dtype) in enumerate(types.items())}
    return results, {e: dtype_of(found[f"x{k}"]) for k, e in enumerate(types)}


def _text(types: dict[str, np.dtype], indent: str) -> str:
    """Parameters and body of a function that stores every expression for item i."""
    arrays = [f"all_{name}" for name in OPERANDS]
    outputs = [f"r{number}" for number in range(len(types))]
    lines = [f"{name} = all_{name}[i]" for name in OPERANDS]
    for number, expression in enumerate(types):
        lines += [f"x{number} = {expression}", f"r{number}[i] = x{number}"]
    return f"{', '.join(arrays + outputs)}):\n" + "".join(f"{indent}{line}\n" for line in lines)


def _empty(types: dict[str, np.dtype], values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {expression: np.zeros(_rows(values), dtype) for expression, dtype in types.items()}


def _rows(values: dict[str, np.ndarray]) -> int:
    return len(next(iter(values.values())))


def assert_same_in_both(expressions: list[str], folder: Path, rows: int = 400) -> int:
    """Compare types and values of every accepted expression; returns how many there were."""
    types = accepted(expressions, folder)
    if not types:
        return 0
    values = operand_values(rows)
    written = {"C++": in_cpp(types, values, folder), "LLVM": in_llvm(types, values, folder)}
    reference, inferred = in_numba(types, values, folder)
    for expression, dtype in types.items():
        assert inferred[expression] == dtype, expression
        for writer, results in written.items():
            ours, numbas = results[expression], reference[expression]
            same = (ours == numbas) | _both_nan(ours, numbas)
            if not same.all():
                row = int(np.argmin(same))
                given = {name: array[row] for name, array in values.items()}
                raise AssertionError(
                    f"{expression}: {writer} {ours[row]}, Numba {numbas[row]} for {given}")
    return len(types)


def _both_nan(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return (left != left) & (right != right)
