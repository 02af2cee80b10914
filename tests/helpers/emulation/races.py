"""Which lanes of a team use which element of its arrays at the same time, and how."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

Note = Callable[[np.ndarray, Any, str], None]
"""``note(array, place, way)``: an element is about to be read or written."""


class _Watched(np.ndarray):
    """An array that tells which of its elements are used, and how."""

    note: Note

    def __getitem__(self, place: Any) -> Any:
        self.note(self, place, "read")
        return super().__getitem__(place)

    def __setitem__(self, place: Any, value: Any) -> None:
        self.note(self, place, "write")
        super().__setitem__(place, value)


def watched(array: np.ndarray, note: Note) -> np.ndarray:
    """The same memory, for a kernel that uses it element by element."""
    result = array.view(_Watched)
    result.note = note
    return result


class _Element:
    """Which lanes have used an element since they last met, in each way."""

    def __init__(self) -> None:
        self.meeting = -1
        self.last = (-1, "")
        self.lanes: dict[str, set[int]] = {}

    def use(self, lane: int, way: str, meeting: int) -> bool:
        """Note a use; whether another lane uses the element too, and one of them changes it."""
        now = (lane, way)
        if meeting != self.meeting:
            self.meeting, self.lanes, self.last = meeting, {way: {lane}}, now
            return False
        if now == self.last:
            return False
        self.last = now
        self.lanes.setdefault(way, set()).add(lane)
        if way == "read" and len(self.lanes) == 1:
            return False
        return any(lanes - {lane} and (way != other or way == "write")
                   for other, lanes in self.lanes.items())


class Uses:
    """Uses of elements by the lanes of one team; safe to call from several threads if told so."""

    def __init__(self, of_threads: bool) -> None:
        self._guard = threading.Lock() if of_threads else None
        self._elements: defaultdict[Hashable, _Element] = defaultdict(_Element)

    def note(self, name: Hashable, lane: int, way: str, meeting: int) -> None:
        """Note that a lane that has met the others so often uses an element.

        Lanes may read together, or add together by "atomic"; all else in between two meetings
        raises AssertionError, whatever the lanes really did first.
        """
        if self._guard is None:
            self._note(self._elements[name], lane, way, meeting)
            return
        with self._guard:
            self._note(self._elements[name], lane, way, meeting)

    def _note(self, element: _Element, lane: int, way: str, meeting: int) -> None:
        if element.use(lane, way, meeting):
            raise AssertionError(f"lanes race for an element of an array: {element.lanes}")
