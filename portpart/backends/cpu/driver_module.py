"""The driver as an LLVM module: it runs single kernels and executes a program's instructions."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from llvmlite import ir

from portpart.backends.cpu.values import BIT, WORD
from portpart.backends.programs import DATA_POINTER

# Constants of the driver and its callers: instructions of programs, and when to use threads -----


LAUNCH, JUMP, JUMP_IF_ZERO, LEAVE = 0, 1, 2, 3
FUNCTION, FIELDS = 1, 6
"""Words of one instruction: operation, function, row, weight of an item, flag, target.

The function is an address, or a negative number until it is compiled. Rows and flags are positions
in a table of packed words; the first word of a row is the address of its work size, the word of a
flag is the flag's address.  LEAVE returns to the caller, which resumes after it when the ranks have
communicated.
"""

DONE, FAILED = 0, 1
"""Results of the driver's functions. A walk that reaches LEAVE returns the place after it, where it
resumes and which is greater than both.
"""

MAX_ARGUMENTS = 63

ITEM_WEIGHT = {1: 1, 8: 8, 32: 32, 256: 2048, 512: 2048}
"""Approximate work of one item by the width of its team, in units of a light item."""

PARALLEL_WORK = 30_000
"""Work (items times their weight) below which a launch runs on the calling thread, if there are
many threads. Few threads save less: two share launches of four times as much, four of twice.
"""

CHUNK_WORK = 8_192
"""Work of one chunk, which a thread takes at a time."""

WORK_BEFORE_THREADS = 100_000_000
"""Work of larger launches that a process does on one thread before Numba is loaded.

It takes about half a second, as loading Numba does, so that no process takes much longer than twice
the time of the better choice. Work is counted, not timed: the same calls always run in the same
way.
"""

DRIVE, WORK, LOAD, COMPILE, DATA = 0, 1, 2, 3, 4
"""Words of the state: address of the parallel loop (0: not loaded), the work done without it,
addresses of the callbacks that load it and that compile a kernel, and the offset of the data's
address in an ndarray object, from its id.
"""


# The driver as an LLVM module: it runs single kernels and executes a program's instructions -----


_DONE, _FAILED = ir.Constant(WORD, DONE), ir.Constant(WORD, FAILED)


def driver_text(name: str) -> str:
    """Return the module with the functions `name`_launch and `name`_walk."""
    module = ir.Module(name)
    launch = _launch(module)
    _launch_objects(module, launch, f"{name}_launch")
    _walk(module, launch, f"{name}_walk")
    return str(module)


class _WordWriter(ir.IRBuilder):
    """Writes a function whose parameters and result are words."""

    def __init__(self, module: ir.Module, name: str, count: int) -> None:
        function = ir.Function(module, ir.FunctionType(WORD, [WORD] * count), name)
        super().__init__(function.append_basic_block("entry"))

    def word(self, number: int) -> ir.Value:
        return ir.Constant(WORD, number)

    def place(self, address: ir.Value, index: ir.Value | int) -> ir.Value:
        """Return the address of word `index` after `address`."""
        number = self.word(index) if isinstance(index, int) else index
        return self.add(address, self.mul(number, self.word(8)))

    def read(self, address: ir.Value, index: ir.Value | int = 0) -> ir.Value:
        return self.load(self.inttoptr(self.place(address, index), WORD.as_pointer()))

    def write(self, value: ir.Value, address: ir.Value, index: ir.Value | int = 0) -> None:
        self.store(value, self.inttoptr(self.place(address, index), WORD.as_pointer()))

    def call_at(self, address: ir.Value, arguments: list[ir.Value],
                result: ir.Type = WORD) -> ir.Value:
        """Write a call of the C function of words at an address."""
        kind = ir.FunctionType(result, [WORD] * len(arguments))
        return self.call(self.inttoptr(address, kind.as_pointer()), arguments)

    def smaller(self, left: ir.Value, right: ir.Value) -> ir.Value:
        return self.select(self.icmp_signed("<", left, right), left, right)

    @contextmanager
    def while_below(self, begin: ir.Value, end: ir.Value) -> Iterator[tuple[ir.Value, ir.Value]]:
        """Write a loop over positions from `begin` on, whose body sets the next one; yield the
        place of the position, and its value.
        """
        position = self.alloca(WORD)
        self.store(begin, position)
        test, loop, after = (self.append_basic_block() for _ in range(3))
        self.branch(test)
        self.position_at_end(test)
        here = self.load(position)
        self.cbranch(self.icmp_signed("<", here, end), loop, after)
        self.position_at_end(loop)
        yield position, here
        self.branch(test)
        self.position_at_end(after)

    def leave_if(self, failed: ir.Value) -> None:
        with self.if_then(failed, likely=False):
            self.ret(_FAILED)


def _launch(module: ir.Module) -> ir.Function:
    """Run one kernel on the packed arguments at `row`, on one thread if there is little work."""
    write = _WordWriter(module, "launch", 6)
    write.function.linkage = "internal"
    function, row, count, weight, workers, state = write.function.args
    with write.if_then(write.icmp_signed("<=", count, _DONE)):
        write.ret(_DONE)
    work = write.mul(count, weight)
    enough = write.mul(write.word(PARALLEL_WORK), write.add(workers, write.word(2)))
    gained = write.mul(work, write.sub(workers, write.word(1)))
    alone = write.icmp_signed("<", gained, enough)
    with write.if_then(alone):
        _run_alone(write, function, row, count)
    with write.if_then(write.icmp_signed("==", write.read(state, DRIVE), _DONE), likely=False):
        before = write.add(write.read(state, WORK), work)
        write.write(before, state, WORK)
        with write.if_then(write.icmp_signed("<=", before, write.word(WORK_BEFORE_THREADS))):
            _run_alone(write, function, row, count)
        write.call_at(write.read(state, LOAD), [workers])
        write.leave_if(write.icmp_signed("==", write.read(state, DRIVE), _DONE))
    share = write.smaller(write.sdiv(write.word(CHUNK_WORK), weight),
                          write.sdiv(count, write.mul(workers, write.word(4))))
    chunk = write.select(write.icmp_signed(">", share, write.word(1)), share, write.word(1))
    write.call_at(write.read(state, DRIVE), [function, row, count, chunk, workers], ir.VoidType())
    write.ret(_DONE)
    return write.function


def _run_alone(write: _WordWriter, function: ir.Value, row: ir.Value, count: ir.Value) -> None:
    write.call_at(function, [_DONE, count, row], ir.VoidType())
    write.ret(_DONE)


def _launch_objects(module: ir.Module, launch: ir.Function, name: str) -> None:
    """Run one kernel with arguments that may be ids of ndarray objects.

    Packed: address of the kernel, number of items, weight of an item, workers, address of the
    state, number of arguments, a word whose bit i says that argument i is such an id, to be
    replaced by the address of its data, and the arguments.
    """
    write = _WordWriter(module, name, 1)
    (frame,) = write.function.args
    given = [write.read(frame, index) for index in range(7)]
    function, count, weight, workers, state, length, arrays = given
    row = write.ptrtoint(write.alloca(ir.ArrayType(WORD, MAX_ARGUMENTS + 1)), WORD)
    with write.while_below(_DONE, length) as (number, index):
        next_index = write.add(index, write.word(1))
        write.store(next_index, number)
        word = write.read(write.place(frame, 7), index)
        write.write(word, row, next_index)
        with write.if_then(write.trunc(write.lshr(arrays, index), BIT)):
            data = write.read(write.add(word, write.read(state, DATA)))
            write.write(data, row, next_index)
    write.ret(write.call(launch, [function, row, count, weight, workers, state]))


def _walk(module: ir.Module, launch: ir.Function, name: str) -> None:
    """Execute a program's instructions, with jumps, to the last one or to a LEAVE.

    Packed: address and length of the instructions, address of the table, workers, address of the
    state, and the first instruction.
    """
    write = _WordWriter(module, name, 1)
    (frame,) = write.function.args
    code, length, table, workers, state, begin = (write.read(frame, index) for index in range(6))
    with write.while_below(begin, length) as (position, here):
        fields = write.place(code, here)
        operation, function, row, weight, flag, target = (
            write.read(fields, index) for index in range(FIELDS))
        behind = write.add(here, write.word(FIELDS))
        write.store(behind, position)
        is_launch = write.icmp_signed("==", operation, write.word(LAUNCH))
        with write.if_else(is_launch) as (then, otherwise):
            with then:
                arguments = write.place(table, row)
                count = write.read(write.read(arguments))
                address = _compiled(write, fields, function, count, state)
                status = write.call(launch, [address, arguments, count, weight, workers, state])
                write.leave_if(write.icmp_signed("==", status, _FAILED))
            with otherwise:
                with write.if_else(write.icmp_signed("==", operation, write.word(JUMP))) as jumps:
                    with jumps[0]:
                        write.store(target, position)
                    with jumps[1]:
                        with write.if_then(write.icmp_signed("==", operation, write.word(LEAVE))):
                            write.ret(behind)
                        value = write.read(write.read(write.place(table, flag)))
                        with write.if_then(write.icmp_signed("==", value, _DONE)):
                            write.store(target, position)
    write.ret(_DONE)


def _compiled(write: _WordWriter, fields: ir.Value, function: ir.Value, count: ir.Value,
              state: ir.Value) -> ir.Value:
    """Return the address in an instruction; compile a kernel that is called and has none."""
    with write.goto_entry_block():
        address = write.alloca(WORD)
    write.store(function, address)
    missing = write.and_(write.icmp_signed("<", function, _DONE),
                         write.icmp_signed(">", count, _DONE))
    with write.if_then(missing, likely=False):
        made = write.call_at(write.read(state, COMPILE), [function])
        write.leave_if(write.icmp_signed("==", made, _DONE))
        write.write(made, fields, FUNCTION)
        write.store(made, address)
    return write.load(address)


# Words shared by the driver and Python, among them addresses of callbacks


state = (ctypes.c_int64 * 5)()
"""Words that the driver reads and counts."""

state[DATA] = DATA_POINTER

STATE = ctypes.addressof(state)

_kept: list[ir.Value] = []
"""The functions that C calls, which must exist as long as the driver."""

_failure = threading.local()
"""The exception of a callback, which ctypes would drop."""


def call_back(word: int, function: Callable[[int], int]) -> None:
    """Let the driver call a function, whose address becomes that word of the state.

    The function receives and returns a number. If it raises an exception, it returns 0, the driver
    ends, and `raise_failure` raises the exception.
    """
    def guarded(number: int) -> int:
        try:
            return function(number)
        except BaseException as problem:
            _failure.problem = problem
            return 0

    made = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(guarded)
    _kept.append(made)
    state[word] = ctypes.cast(made, ctypes.c_void_p).value or 0


def raise_failure() -> NoReturn:
    """Raise the exception of a callback inside the driver.

    Only Ctrl-C may occur between a callback and the code that catches its exceptions.
    """
    raise _failure.__dict__.pop("problem", None) or KeyboardInterrupt
