"""A program as one kernel that stays on the device until it has finished.

Launches become device functions, called one by one with a barrier of all blocks between them; loops
and branches become those of C++. A barrier costs less than the launch of a node of a graph, and a
test of a flag a small part of a conditional node. All blocks must run at the same time, which a
cooperative launch ensures.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from portpart.backends.cuda.requirements import may_set
from portpart.backends.cuda.translate import Translation
from portpart.backends.language.team_arrays import BLOCK
from portpart.backends.programs import (
    FEW,
    FEWEST,
    MANY,
    SOME,
    Branch,
    Element,
    Launch,
    Step,
    TableSizes,
    While,
)

BLOCKS = {FEWEST: 1, FEW: 2, SOME: 3, MANY: 4}
"""Blocks per multiprocessor that the compiler must allow; with more, threads have too few
registers.
"""

Steps = tuple[Step, ...]

_SYMBOL = "@program@"

INLINED_STEP = re.compile(r"__device__ __forceinline__ void (\w+_step\()")


class ResidentWriter:
    """Writes the kernel of a program.

    Parameters
    ----------
    translations : mapping
        The translation of each launch, by its identity.
    rows : mapping
        First word of the row of each launch in the program's table, by its identity.
    flags : mapping
        Position of each flag's address in the table.
    sizes : TableSizes
        The sizes of the table.
    laps : int, optional
        Position of the address of the sums of the times of each launch.
    blocks : int
        Blocks per multiprocessor that the compiler must allow.
    threads : int
        Number of threads of a block.
    """

    def __init__(self, translations: Mapping[int, Translation], rows: Mapping[int, int],
                 flags: Mapping[Element, int], sizes: TableSizes, laps: int | None = None,
                 blocks: int = BLOCKS[SOME], threads: int = BLOCK) -> None:
        self.translations, self.rows, self.flags = translations, rows, flags
        self.sizes, self.laps, self.blocks, self.threads = sizes, laps, blocks, threads
        self._numbers = {launch: number for number, launch in enumerate(rows)}

    def write(self, steps: Sequence[Step], symbol: str | None = None) -> tuple[str, str]:
        """Return the name of the kernel, by default from its text, and its text with all functions
        that it calls.
        """
        texts = self._texts()
        length, values, first, numbers, zeros = self.sizes
        begin_words = [f"    pp::begin_words(given.words, {first}, {numbers}, {zeros});",
                       "    grid.wait();"]
        entry = "\n".join([
            'extern "C" __global__ void '
            f"__launch_bounds__({self.threads}, {self.blocks}) {_SYMBOL}(PP_GIVEN({values}))",
            "{",
            f"    __shared__ int64 table[{max(1, length)}];",
            f"    pp::make_rows(given.words, table, {length});",
            "    pp::Grid grid(given.words[3], given.words[4]);",
            *(begin_words if numbers + zeros else []),
            *([] if self.laps is None else [f"    pp::Stopwatch watch(table[{self.laps}]);"]),
            *self._block(steps, "    "),
            "}",
        ])
        text = "\n\n".join([*texts, entry]) + "\n"
        symbol = symbol or f"program_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        return symbol, text.replace(_SYMBOL, symbol)

    def _texts(self) -> list[str]:
        """Return the text of each kernel once; a kernel launched several times is called, not
        inlined.

        This saves a fifth to a third of the compile time. Calls of all kernels would save and
        restore registers, which would cost 1 to 2 % of a run (measured on an H200).
        """
        launches = Counter(self.translations.values())
        # without inlined launches, a fast compilation takes a tenth to a third less
        return [INLINED_STEP.sub(r"__device__ __noinline__ void \1", translation.text) if count > 1
                else translation.text
                for translation, count in launches.items()]

    def _block(self, steps: Sequence[Step], margin: str, after: Steps = ()) -> list[str]:
        lines = []
        for place, step in enumerate(steps, 1):
            if isinstance(step, Launch):
                called = self.translations[id(step)].step_symbol
                number, count = _among_neighbours(steps, place - 1)
                lines.append(f"{margin}{called}(table + {self.rows[id(step)]}, "
                             f"pp::block_for({number}, {count}));")
                lines += [f"{margin}grid.wait();"] if step.has_barrier else []
                if self.laps is not None:
                    lines.append(f"{margin}watch.lap({self._numbers[id(step)]});")
                continue
            assert isinstance(step, (While, Branch)), "segments do not communicate"
            rest = (*steps[place:], *after)
            sides, follow = _sides(step, rest)
            settled = not any(may_set(launch, step.flag)
                              for side in sides for launch in before_barrier((*side, *follow)))
            reads = "reads" if settled else "sees"
            word = "while" if isinstance(step, While) else "if"
            lines.append(f"{margin}{word} (grid.{reads}(table[{self.flags[step.flag]}])) {{")
            lines += self._block(sides[0], margin + "    ", follow)
            if not isinstance(step, While) and step.orelse:
                lines += [f"{margin}}} else {{", *self._block(step.orelse, margin + "    ", follow)]
            lines.append(f"{margin}}}")
        return lines


def _among_neighbours(steps: Sequence[Step], place: int) -> tuple[int, int]:
    """Return the number of a launch among launches side by side with it, and their count."""
    def before_barrier(step: Step) -> bool:
        return isinstance(step, Launch) and not step.has_barrier

    first, last = place, place
    while first > 0 and before_barrier(steps[first - 1]):
        first -= 1
    while before_barrier(steps[last]):
        last += 1
    return place - first, last - first + 1


def _sides(step: While | Branch, rest: Steps) -> tuple[list[Steps], Steps]:
    """Return the steps that may follow after the flag of `step` is read, and those after both
    sides.
    """
    if isinstance(step, While):
        return [tuple(step.steps), ()], (step, *rest)
    return [tuple(step.then), tuple(step.orelse)], rest


def before_barrier(steps: Iterable[Step]) -> list[Launch]:
    """Return the launches that may begin before a barrier if a block continues with `steps`."""
    found: list[Launch] = []
    for step in steps:
        if isinstance(step, Launch):
            found.append(step)
            if step.has_barrier:
                break
        elif isinstance(step, While):
            found += before_barrier(step.steps)
        elif isinstance(step, Branch):
            found += before_barrier(step.then) + before_barrier(step.orelse)
            if _always_meets(step.then) and _always_meets(step.orelse):
                break
    return found


def _always_meets(steps: Iterable[Step]) -> bool:
    """Whether all blocks that execute `steps` meet at a barrier."""
    return any(
        step.has_barrier if isinstance(step, Launch)
        else isinstance(step, Branch) and _always_meets(step.then) and _always_meets(step.orelse)
        for step in steps
    )
