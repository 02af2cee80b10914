"""Which lanes of a team use which element of its arrays at the same time, and how."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

READ, ATOMIC, WRITE = 1, 2, 3
"""How an element is used, and where the lanes that do so stand in its uses."""

Uses = list[int]
"""How often lanes had met when an element was last used, and which have used it since: a bit for
each lane, a number for each way.
"""

Elements = dict[Hashable, Uses]
Note = Callable[[Elements, Any, int], None]
"""``note(elements, place, way)``: the element at `place` is about to be read or written."""

_get, _set = np.ndarray.__getitem__, np.ndarray.__setitem__


def note(elements: Elements, place: Any, way: int, meeting: int, lane: int) -> None:
    """Note how a lane, which has met the others so often, uses an element.

    Lanes may read together, or add together by atomics; all else in between two meetings raises
    AssertionError, whatever the lanes really did first.
    """
    own, uses = 1 << lane, elements.get(place)
    if uses is None or uses[0] != meeting:
        uses = elements[place] = [meeting, 0, 0, 0]
        uses[way] = own
        return
    if uses[way] & own:
        return  # it was allowed then, and others have raised what it forbids them
    uses[way] |= own
    _, reads, atomics, writes = uses
    others = (0, atomics | writes, reads | writes, reads | atomics | writes)[way]
    if others & ~own:
        raise AssertionError("lanes race for an element of an array: of the lanes, as bits, "
                             f"{reads:b} read, {atomics:b} use atomics, {writes:b} write")


class _Watched(np.ndarray):
    """An array that tells which of its elements are used, and how."""

    note: Note
    elements: Elements

    def __getitem__(self, place: Any) -> Any:
        self.note(self.elements, place, READ)
        return _get(self, place)

    def __setitem__(self, place: Any, value: Any) -> None:
        self.note(self.elements, place, WRITE)
        _set(self, place, value)


def watched(array: np.ndarray, note: Note) -> np.ndarray:
    """The same memory, for a kernel that uses it element by element."""
    result = array.view(_Watched)
    result.note, result.elements = note, {}
    return result
