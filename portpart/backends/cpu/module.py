"""The LLVM module of a kernel.

The module holds the device functions, the kernel's body, and one C function
``name(start, stop, row)`` that runs the body for a range of work items.  ``row`` is the address of
the packed arguments (`packing`): word 0 is the address of the work size, which the driver reads,
the others are addresses of arrays or the bits of scalars.

Many kernels call the same device functions, which are written once for all of them.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from llvmlite import ir

from portpart.backends.cpu.statements import LlvmStatementWriter
from portpart.backends.cpu.values import BIT, BYTE, WORD, literal, memory_type, value_type
from portpart.backends.language.kernels import TypedFunction
from portpart.backends.language.types import ABSENT, BOOL, INT64, ArgumentType, ArrayType


class Written(NamedTuple):
    """A device function for the modules of all kernels that call it.

    Attributes
    ----------
    head : llvmlite.ir.Function
        The function that calls refer to, without its body, which would stay in memory.
    texts : list of str
        Its text, and the declarations of LLVM that it needs.
    """

    head: ir.Function
    texts: list[str]


def module_text(typed: TypedFunction, name: str) -> str:
    """Return the module with the C function `name` for the kernel `typed`."""
    module = ir.Module(name)
    _chunk(module, typed, name, _function(module, typed, "body"))
    texts = [text for device in typed.devices for text in _written(device).texts]
    return "\n".join(dict.fromkeys([*texts, *map(str, module.functions)]))


@lru_cache(maxsize=4096)
def _written(device: TypedFunction) -> Written:
    module = ir.Module()
    function = _function(module, device, _name_of(device))
    texts = [*map(str, module.functions)]
    function.blocks.clear()
    return Written(function, texts)


def _name_of(device: TypedFunction) -> str:
    """Return a name that depends on everything that determines the code of a device function."""
    types = ", ".join(map(str, device.arguments.values()))
    meaning = f"{device.function.fingerprint} {types}"
    return f"{device.function.name}.{hashlib.sha256(meaning.encode()).hexdigest()[:24]}"


def _function(module: ir.Module, typed: TypedFunction, name: str) -> ir.Function:
    given = [_type(kind) for kind in typed.arguments.values() if kind is not ABSENT]
    returns = ir.VoidType() if typed.returns is None else value_type(typed.returns)
    function = ir.Function(module, ir.FunctionType(returns, given), name)
    function.linkage = "internal"
    function.attributes.add("alwaysinline")
    devices = {callee: _written(callee).head for callee in typed.calls.values()}
    LlvmStatementWriter(typed, function, devices).write()
    return function


def _chunk(module: ir.Module, typed: TypedFunction, name: str, body: ir.Function) -> None:
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [WORD] * 3), name)
    start, stop, row = function.args
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    given = [_argument(builder, row, position, kind, name in typed.stored)
             for position, (name, kind) in enumerate(typed.arguments.items())
             if position > 0 and kind is not ABSENT]
    entry = builder.block
    test, loop, after = (builder.append_basic_block() for _ in range(3))
    builder.branch(test)
    builder.position_at_end(test)
    item = builder.phi(WORD)
    item.add_incoming(start, entry)
    builder.cbranch(builder.icmp_signed("<", item, stop), loop, after)
    builder.position_at_end(loop)
    builder.call(body, [item, *given])
    item.add_incoming(builder.add(item, literal(1, INT64), flags=("nsw",)), loop)
    builder.branch(test)
    builder.position_at_end(after)
    builder.ret_void()


def _argument(builder: ir.IRBuilder, row: ir.Value, position: int, kind: ArgumentType,
              is_stored: bool) -> ir.Value:
    """Return the argument at the word `position` of a row, or at the address in that word."""
    address = builder.add(row, literal(8 * position, INT64))
    if is_stored:
        address = builder.load(builder.inttoptr(address, WORD.as_pointer()))
    if isinstance(kind, ArrayType):
        word = builder.load(builder.inttoptr(address, WORD.as_pointer()))
        return builder.inttoptr(word, _type(kind))
    memory = BYTE if kind == BOOL else _type(kind)
    value = builder.load(builder.inttoptr(address, memory.as_pointer()))
    return builder.trunc(value, BIT) if kind == BOOL else value


def _type(kind: ArgumentType) -> ir.Type:
    if isinstance(kind, ArrayType):
        return memory_type(kind.dtype).as_pointer()
    assert isinstance(kind, np.dtype)
    return value_type(kind)
