"""Translation of kernels to CUDA C++.

Each kernel, for one set of argument types and one width of team, becomes a namespace with its
device functions and its body, and entry points: the direct one, whose parameters are the work size
and the arguments; the packed one of programs, which reads both from a row of 8-byte words in memory
(`packing`); and the step of a resident program (`resident`), a device function that does the same.
The text compiles with either prelude: `words` for NVRTC, or that of the tests for the host's
compiler.
"""

from __future__ import annotations

import functools
import hashlib
import os
from dataclasses import dataclass

from portpart.backends.cuda.declarations import NameTable
from portpart.backends.cuda.expressions import CudaExpressionWriter, type_name
from portpart.backends.cuda.requirements import check_width
from portpart.backends.cuda.statements import CudaStatementWriter
from portpart.backends.language import Kernel
from portpart.backends.language.infer import infer
from portpart.backends.language.kernels import TypedFunction
from portpart.backends.language.team_arrays import block_of, shared_arrays
from portpart.backends.language.types import ABSENT, ArgumentType, ArrayType, type_of
from portpart.backends.programs import Bound

_SYMBOL = "@symbol@"
DIRECT, PACKED, STEP = "direct", "packed", "step"
WARP = 32


@dataclass(frozen=True)
class Translation:
    """CUDA C++ of one kernel for one set of argument types.

    Attributes
    ----------
    symbol : str
        Name of the direct entry point.
    text : str
        The source, which needs the prelude before it.
    """

    symbol: str
    text: str

    @property
    def step_symbol(self) -> str:
        """Return the name of the device function that reads its arguments from a row."""
        return f"{self.symbol}_step"


def packed_name(symbol: str) -> str:
    """Return the name of the entry point that reads its arguments from a row."""
    return f"{symbol}_packed"


@functools.lru_cache(maxsize=4096)
def translate(kernel: Kernel, arguments: tuple[ArgumentType, ...], team: int,
              entries: tuple[str, ...]) -> Translation:
    """Translate `kernel` for `arguments` and teams of `team` lanes, with the given entry points.

    Raises
    ------
    KernelTypeError
        If the types do not fit the kernel language, or the team arrays do not fit a block.
    """
    check_width(kernel, team)
    typed = infer(kernel, arguments)
    parts = [_namespace(typed, team)]
    if DIRECT in entries:
        parts.append(_direct_entry(typed, team))
    if PACKED in entries:
        head = f"{_entry(team)} {packed_name(_SYMBOL)}"
        parts.append(_from_row(typed, team, head))
    if STEP in entries:
        head = f"__device__ __forceinline__ void {_SYMBOL}_step"
        parts.append(_from_row(typed, team, head, "own_block"))
    text = "\n\n".join(parts) + "\n"
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    symbol = f"{NameTable()(kernel.name)}_{digest}"
    return Translation(symbol, text.replace(_SYMBOL, symbol))


def _namespace(typed: TypedFunction, team: int) -> str:
    names = NameTable()
    devices = {device: names.fresh(device.function.name) for device in typed.devices}
    parts = [f"namespace {_SYMBOL}_ {{\n\nconstexpr int TEAM = {team};"]
    for device, name in devices.items():
        parts.append(_function(device, name, devices))
    parts.append(_function(typed, "body", devices))
    return "\n\n".join([*parts, f"}}  // namespace {_SYMBOL}_"])


def _function(typed: TypedFunction, name: str, devices: dict[TypedFunction, str]) -> str:
    names = NameTable(frozenset(devices.values()))
    expressions = CudaExpressionWriter(typed, names, devices.__getitem__)
    lines = CudaStatementWriter(expressions, names).body()
    where = f"{os.path.basename(typed.function.filename)}:{typed.function.first_line}"
    head = f"__device__ __forceinline__ {type_name(typed.returns)} {name}"
    body = "".join(f"\n    {line}" for line in lines)
    parameters = ", ".join(_parameters(typed, names))
    return f"// {typed.function.name} in {where}\n{head}({parameters})\n{{{body}\n}}"


def _parameters(typed: TypedFunction, names: NameTable) -> list[str]:
    return [
        f"{_declared(kind)} {names(name)}"
        for name, kind in typed.arguments.items() if kind is not ABSENT
    ]


@functools.cache
def _declared(kind: ArgumentType) -> str:
    return f"{kind.dtype}*" if isinstance(kind, ArrayType) else str(kind)


def _entry(team: int) -> str:
    return f'extern "C" __global__ void __launch_bounds__({block_of(team)})'


def _direct_entry(typed: TypedFunction, team: int) -> str:
    names = NameTable()
    _, *parameters = _parameters(typed, names)
    head = f"{_entry(team)} {_SYMBOL}"
    given = ", ".join(["int64 count", *parameters])
    return f"{head}({given})\n{{\n{_items(typed, names, team)}\n}}"


def _from_row(typed: TypedFunction, team: int, head: str, block: str = "") -> str:
    """Return an entry point that reads the work size and the arguments from a row.

    A step also receives the number of its block among all blocks that work on it.
    """
    names = NameTable()
    lines = ["    const int64 count = *pp::argument<int64*>(row, 0);"]
    for position, (name, kind) in enumerate(typed.arguments.items()):
        if position > 0 and kind is not ABSENT:
            lines.append(f"    {kind.dtype}* const {names(name)} = "
                         f"pp::array<{kind.dtype}>(row, {position});"
                         if isinstance(kind, ArrayType) else
                         f"    const {kind} {names(name)} = "
                         f"*pp::argument<{kind}*>(row, {position});" if name in typed.stored else
                         f"    const {kind} {names(name)} = pp::argument<{kind}>(row, {position});")
    given = f", uint32 {block}" if block else ""
    return "\n".join([f"{head}(const int64* row{given})", "{", *lines,
                      _items(typed, names, team, block), "}"])


def _items(typed: TypedFunction, names: NameTable, own: int, block: str = "") -> str:
    """Return the loop of a team of `own` lanes over its work items.

    The teams of a warp begin each item together.  Otherwise a team that finishes an item first
    would stay apart from the others, and the warp would execute what follows once for each.  The
    barrier also keeps lanes from changing arrays that other lanes of their team still read.
    """
    _, *rest = typed.arguments.items()
    passed = ", ".join(["item", *(names(name) for name, kind in rest if kind is not ABSENT)])
    team = f"{_SYMBOL}_::TEAM"
    reuses = own > 1 and shared_arrays(typed.function.team_arrays)
    barrier = f"        pp::meet<{team}>();\n" if reuses or 1 < own < WARP else ""
    first = names.fresh("first")
    return (f"    for (int64 {first} = pp::first_item<{team}>({block}); {first} < count;"
            f" {first} += pp::item_stride<{team}>()) {{\n"
            f"        const int64 item = {first} + pp::team_in_warp<{team}>();\n"
            f"        if (item < count) {_SYMBOL}_::body({passed});\n{barrier}"
            "    }")


def source(kernel: Kernel, *arguments: Bound, team: int = 1) -> str:
    """Return the CUDA C++ of a kernel for arguments (or argument types) like the given ones.

    Parameters
    ----------
    kernel : Kernel
    *arguments
        Arrays, scalars, records or None as a launch would pass them, without the work index.
    team : {1, 8, 32, 256, 512}
        Lanes per work item.

    Returns
    -------
    str
        Source of the translation unit without the prelude of words, with both entry points.
    """
    types = tuple(map(type_of, kernel.flattened(arguments)))
    return translate(kernel, types, team, (DIRECT, PACKED)).text
