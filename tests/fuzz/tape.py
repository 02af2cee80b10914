"""Bytes as decisions: a case of objects or calls is a string of bytes, and shorter is simpler."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

LONGEST = 120


def tape(random: Random) -> bytes:
    """Decisions at random."""
    return random.randbytes(random.randrange(4, LONGEST))


class Tape:
    """Decisions read from bytes; the first choice of each when they have run out."""

    def __init__(self, data: bytes) -> None:
        self._rest = iter(data)

    def below(self, count: int) -> int:
        """An integer from 0 to count - 1, which is at most 256."""
        return next(self._rest, 0) % count

    def pick(self, choices: Sequence[Any]) -> Any:
        return choices[self.below(len(choices))]

    def chance(self, one_in: int) -> bool:
        """True once in so many; False at the end of the tape."""
        return self.below(one_in) == one_in - 1
