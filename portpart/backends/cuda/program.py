"""Programs on CUDA: a resident kernel, or a walk that launches the steps one by one.

Until its resident kernel is compiled, a program walks. Its single kernels are compiled in parallel,
and many programs share them, so that they are available in a fraction of the time.

Both ways read the arguments of every launch from a table, so that one kernel serves all arrays. A
resident kernel builds the table from the values in its argument; otherwise the table is in device
memory, and `run` rewrites it. The number of blocks is fixed for a class of work sizes: small and
large ones, and for a resident kernel also those between.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.backends import programs
from portpart.backends.cuda.compile import ResidentKernel, Walked, blocks_for
from portpart.backends.cuda.launch import RESIDENT, Device, Given, Resident
from portpart.backends.cuda.program_text import ProgramText
from portpart.backends.language.team_arrays import block_of

if TYPE_CHECKING:
    from cupy.cuda import Event, Function, Stream

    from portpart.backends.programs import Bound

SMALL_SIZE = 1 << 15
"""Largest work size that runs with the small grid."""

SMALL_WAVES, FULL_WAVES = 1, 8
"""Maximum blocks per multiprocessor of a launch, in the small and the full grid."""

KEPT = 1 << 16
"""Maximum bytes of scratch that a program keeps, since an allocation takes ten microseconds. It
keeps less than four times as much, because kept memory doubles.
"""


class CudaExecutable:
    """A program compiled for one device.

    Parameters
    ----------
    space : CudaSpace
    program : Program
    walked : Walked, optional
        Counts launches until its resident kernel is compiled, together with those of programs that
        share it.
    """

    def __init__(self, space: Device, program: programs.Program,
                 walked: Walked | None = None) -> None:
        self.space, self._walked = space, walked
        self.program = program
        self.laps = None
        if space.profiling:
            self.laps = space.cupy.zeros((len(program.launches()), 2), np.int64)
        self.text = ProgramText(program, space.address_of,
                                None if self.laps is None else self.laps.data.ptr)
        self.layout = self.text.layout
        self._has_flags = any(isinstance(step, (programs.While, programs.Branch))
                              for step in programs.all_steps(program.steps))
        self.table = space.cupy.empty(len(self.layout), np.int64)
        self._base = int(self.table.data.ptr)
        self.functions: dict[int, Function] = {}
        self._kernel: ResidentKernel | None = None
        self._resident: Resident | None = None
        self._lock = threading.RLock()
        self._done = space.cupy.cuda.Event(disable_timing=True)
        self._last: Event | None = None
        self._kept: list[Any] = []

    def run(self, bindings: Mapping[str, Bound], size: int, sizes: Any = None) -> None:
        """Run with arrays and scalars bound to the slots; `size` is the largest work size."""
        places = self.layout.place_scratch(sizes)
        with self._lock, self.space.active():
            stream = self.space.current_stream()
            self._wait_for_last(stream)
            scratch = self._scratch(places[-1])
            resident = self._ready() if self.space.program_mode == RESIDENT else None
            if resident is not None:
                self.layout.bind(bindings, resident.where, scratch.data.ptr, places)
                self._launch_resident(resident, stream, size)
            else:
                words = self.layout.fill(bindings, self._base, scratch.data.ptr, places)
                # From pageable memory the call returns when the words have been read.
                self.table.data.copy_from_host_async(programs.address_of(words), words.nbytes,
                                                     stream)
                self._walk_all(bindings, size <= SMALL_SIZE)
            self._launched(stream)

    def repeated(self, bindings: Mapping[str, Bound], size: int) -> Callable[[], None]:
        """Return a function that runs a program without scratch.

        Slots keep their present bindings, whatever runs in between.
        """
        with self._lock, self.space.active():
            resident = self._ready() if self.space.program_mode == RESIDENT else None
            if resident is None:
                return partial(self.run, bindings, size)
            self.layout.bind(bindings, resident.where, 0, ())
            given = Given(self.layout)

        def launch() -> None:
            with self._lock, self.space.active():
                stream = self.space.current_stream()
                self._wait_for_last(stream)
                self._launch_resident(resident, stream, size, given)
                self._launched(stream)

        return launch

    def _launch_resident(self, resident: Resident, stream: Stream, size: int,
                         given: Given | None = None) -> None:
        # blocks per multiprocessor: more have slower barriers
        blocks = 1 if size <= SMALL_SIZE else 2 if size <= 1 << 19 else self.text.max_blocks
        resident.launch(stream, blocks, given)
        self.space.counters.launches += 1

    def _launched(self, stream: Stream) -> None:
        """Store the stream of the last run."""
        if stream.ptr:
            stream.record(self._done)  # the stream may not exist any more when it is needed
        self._last = stream

    def _scratch(self, size: int) -> Any:
        """Return memory for one run. It is reused only on this stream.

        Kept memory is never freed: it would return to the stream on which it was allocated, while a
        run on another stream may still use it.
        """
        if size > KEPT:
            return self.space.empty(size, np.uint8)
        if not self._kept or size > len(self._kept[-1]):
            known = len(self._kept[-1]) if self._kept else 0
            self._kept.append(self.space.empty(max(size, 2 * known), np.uint8))
        return self._kept[-1]

    def _walk_all(self, bindings: Mapping[str, Bound], small: bool) -> None:
        """Launch the steps one by one; they read the table in device memory."""
        if not self.functions:
            kernels = self.space.kernels
            in_place = self.space.program_mode == RESIDENT and kernels.modules.quick
            self.functions = kernels.packed(self.program, in_place)
        before = self.space.counters.launches
        self._walk(self.program.steps, self.layout.bindings.named(bindings), small)
        if self._kernel is not None:
            self._kernel.walked(self.space.counters.launches - before)

    def is_requested(self) -> bool:
        """Whether its resident kernel is kept, or is compiled now because nothing else can run."""
        if self.space.program_mode == RESIDENT:
            self._resident_kernel().request()
        return self.space.program_mode == RESIDENT and self._resident_kernel().is_kept

    @property
    def reads_flags(self) -> bool:
        """Whether the host waits for flags if it runs the program now."""
        return self._has_flags and (self.space.program_mode != RESIDENT or self._ready() is None)

    def _resident_kernel(self) -> ResidentKernel:
        if self._kernel is None:
            self._kernel = self.space.kernels.resident(self.text, self.laps is not None,
                                                       self._walked)
        return self._kernel

    def _ready(self) -> Resident | None:
        """Return the resident kernel, or None while it is not available."""
        if self._resident is None:
            function = self._resident_kernel().ready()
            if function is not None:
                self._resident = Resident(function, self.space, self.layout, self.text.threads)
        return self._resident

    def profile(self) -> list[tuple[str, int, float]]:
        """Return kernel, launches and milliseconds of each recorded launch, summed over all runs.

        The program must have run resident and been made while the space's `profiling` was on.
        Launches side by side end at one barrier, whose time is counted for the last of them.
        """
        if self.laps is None:
            return []
        clock = self.space.cupy.cuda.Device(self.space.device_id).attributes["ClockRate"]  # kHz
        return [
            (f"{step.kernel.name} ({step.team})", int(count), float(cycles) / clock)
            for step, (cycles, count) in zip(self.program.launches(), self.laps.get(), strict=True)
        ]

    def _blocks(self, step: programs.Launch, small: bool) -> int:
        waves = SMALL_WAVES if small else FULL_WAVES
        limit = waves * self.space.multiprocessors
        if isinstance(step.count, programs.Element):
            return blocks_for(SMALL_SIZE, step.team, limit) if small else limit
        return blocks_for(int(step.count), step.team, limit)

    def _wait_for_last(self, stream: Stream) -> None:
        """Wait for a run on another stream, which uses the same table and kept memory."""
        if self._last is not stream and self._last is not None and self._last != stream:
            if not self._last.ptr:
                self._done.record(self._last)
            stream.wait_event(self._done)

    def _walk(self, steps: list[programs.Step], bindings: Mapping[str, Bound], small: bool) -> None:
        for step in steps:
            if isinstance(step, programs.Launch):
                self.space.counters.launches += 1
                # The kernel reads its row when it starts.
                address = np.uint64(self.table.data.ptr + 8 * self.text.rows[id(step)])
                self.functions[id(step)]((self._blocks(step, small),), (block_of(step.team),),
                                         (address,))
            elif isinstance(step, programs.While):
                while self._is_set(step.flag, bindings):
                    self._walk(step.steps, bindings, small)
            elif isinstance(step, programs.Branch):
                side = step.then if self._is_set(step.flag, bindings) else step.orelse
                self._walk(side, bindings, small)

    def _is_set(self, flag: programs.Element, bindings: Mapping[str, Any]) -> bool:
        self.space.counters.synchronizations += 1
        if flag.slot.words:
            return int(self.table[self.layout.place_of(flag)]) != 0
        return int(bindings[flag.slot.name][flag.index]) != 0
