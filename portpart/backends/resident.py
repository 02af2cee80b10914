"""A program as one kernel that stays on the device until it is done.

Its launches become device functions, called one after the other with a barrier of all blocks
between them; its loops and branches become those of C++.  A barrier costs less than the launch of a
node of a graph, and a test of a flag a small part of a conditional node.  All blocks must run at
the same time, which a cooperative launch sees to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from portpart.backends.program import Element, Launch, Step, While
from portpart.backends.translate import Translation

BLOCKS = 4
"""Blocks per multiprocessor that the compiler must leave room for."""

_SYMBOL = "@program@"


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
    words, arrivals : int
        Length of the table, and the position of the word that counts arrivals at barriers.
    laps : int, optional
        Position of the address where the time of each launch is added up.
    """

    def __init__(self, translations: Mapping[int, Translation], rows: Mapping[int, int],
                 flags: Mapping[Element, int], words: int, arrivals: int,
                 laps: int | None = None) -> None:
        self.translations, self.rows, self.flags = translations, rows, flags
        self.words, self.arrivals, self.laps = words, arrivals, laps
        self._numbers = {launch: number for number, launch in enumerate(rows)}

    def write(self, steps: Sequence[Step]) -> tuple[str, str]:
        """Name of the kernel, and its text with the device functions that it calls."""
        texts = dict.fromkeys(translation.text for translation in self.translations.values())
        entry = "\n".join([
            'extern "C" __global__ void '
            f"__launch_bounds__(256, {BLOCKS}) {_SYMBOL}(const int64* rows)",
            "{",
            f"    __shared__ int64 table[{self.words}];",
            f"    pp::copy_words(rows, table, {self.words});",
            f"    pp::Grid grid(int64(rows + {self.arrivals}));",
            *([] if self.laps is None else [f"    pp::Stopwatch watch(rows[{self.laps}]);"]),
            *self._block(steps, "    "),
            "}",
        ])
        text = "\n\n".join([*texts, entry]) + "\n"
        symbol = f"program_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        return symbol, text.replace(_SYMBOL, symbol)

    def _block(self, steps: Sequence[Step], margin: str) -> list[str]:
        lines = []
        for step in steps:
            if isinstance(step, Launch):
                called = self.translations[id(step)].step_symbol
                lines.append(f"{margin}{called}(table + {self.rows[id(step)]});")
                lines += [f"{margin}grid.wait();"] if step.awaited else []
                if self.laps is not None:
                    lines.append(f"{margin}watch.lap({self._numbers[id(step)]});")
                continue
            seen = f"grid.sees(table[{self.flags[step.flag]}])"
            sides = [("while", step.steps)] if isinstance(step, While) else [("if", step.then)]
            lines.append(f"{margin}{sides[0][0]} ({seen}) {{")
            lines += self._block(sides[0][1], margin + "    ")
            if not isinstance(step, While) and step.orelse:
                lines += [f"{margin}}} else {{", *self._block(step.orelse, margin + "    ")]
            lines.append(f"{margin}}}")
        return lines
