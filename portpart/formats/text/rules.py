"""Rules of reading: directions, weights, and the columns of a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from portpart.errors import InputError, listed, shown
from portpart.formats.text.files import Source
from portpart.graphs import ABS, ENDS, IGNORE, KEEP, ROUND, WEIGHTS, checked_mode, directions_of

# Treatment of directions and weights while a file is read --------------------------------------


RULES = ("symmetrize", "weights", "weight_scale")
"""Names of the options."""


@dataclass(frozen=True)
class ReadingRules:
    """Options of reading, as in `portpart.as_graph`.

    Parameters
    ----------
    symmetrize : bool or str, optional
    weights : str, optional
        One of `weights.MODES`; None: the format's default.
    scale : float, optional
    """

    symmetrize: bool | str | None = None
    weights: str | None = None
    scale: float | None = None

    @property
    def takes_fractions(self) -> bool:
        """Whether weights need not be integers."""
        return self.weights in (ABS, ROUND)

    def reads_weights(self, by_default: bool) -> bool:
        """Whether weights are read, for a format with this default."""
        return by_default if self.weights is None else self.weights != IGNORE

    def of_arcs(self) -> dict[str, Any]:
        """Return the keywords of `from_arrays.csr_graph` for formats with both directions of an
        edge.
        """
        return {"symmetrize": self.symmetrize or False, **self._of_weights()}

    def of_edges(self) -> dict[str, Any]:
        """Return the keywords of `from_arrays.edges_graph` for formats that list edges without
        direction.
        """
        return {"symmetrize": self.symmetrize or True, **self._of_weights()}

    def _of_weights(self) -> dict[str, Any]:
        return {"mode": self.weights or KEEP, "scale": self.scale}


STRICT = ReadingRules()
"""The default rules."""


def rules_of(symmetrize: bool | str | None = None, weights: bool | str | None = None,
             weight_scale: float | None = None) -> ReadingRules:
    """Return the checked rules of options."""
    if symmetrize is not None:
        directions_of(symmetrize)
    mode = checked_mode(weights, weight_scale)
    return ReadingRules(symmetrize, None if weights is None else mode, weight_scale)


# Columns of a table that are the ends of edges and the weight: by their titles, else by place


TIMES = ("time", "timestamp", "date", "datetime", "year", "epoch", "unixtime", "unixts")
"""Titles of a third column that is not a weight."""

WIDTHS = (2, 3)
WEIGHTED_WIDTH = 3
"""Number of columns of edges, and of edges with weights."""

HOW = ("say which are meant, by title or number from 1: columns='source,target' or "
       "'source,target,weight' (--columns)")


@dataclass(frozen=True)
class Columns:
    """Places of the columns of both ends, and of the weights."""

    ends: tuple[int, int]
    weight: int | None

    def places(self, weighted: bool) -> tuple[int, ...]:
        """Return the columns to be read."""
        return (*self.ends, self.weight) if weighted and self.weight is not None else self.ends


def columns_of(source: Source, line: int, titles: tuple[str, ...], width: int, option: str | None,
               without_weights: bool) -> Columns:
    """Return the columns of a table.

    Parameters
    ----------
    source, line
        Place of the first row in messages.
    titles : tuple of str
        Titles of the columns, or empty; ignored if their number is not `width`.
    width : int
        Number of columns.
    option : str or sequence of str or int, optional
        Titles, or numbers from 1, of the two ends and perhaps the weight.
    without_weights : bool
        Whether weights are ignored in any case.
    """
    if len(titles) != width:
        titles = ()  # they are titles of something else
    if option is not None:
        return _requested_columns(option, titles, width)
    lower = [title.strip().lower() for title in titles] if len(titles) == width else []
    known = [pair for pair in ENDS if all(lower.count(title) == 1 for title in pair)]
    ends = (lower.index(known[0][0]), lower.index(known[0][1])) if len(known) == 1 else (0, 1)
    rest = [place for place in range(width) if place not in ends]
    weights = [place for place in rest if lower and lower[place] in WEIGHTS]
    if width not in WIDTHS:
        named = f" ({listed(titles)})" if titles else ""
        source.refuse(line, f"{width} columns{named}; an edge has two ends and perhaps a weight: "
                            f"{HOW}; a matrix has as many lines as columns: format='dense'")
    if rest and not weights and not without_weights and lower and lower[rest[0]] in TIMES:
        source.refuse(line, f"column {shown(titles[rest[0]])} is not recognised as a weight: {HOW}")
    return Columns(ends, rest[0] if rest else None)


def _requested_columns(option: Any, titles: tuple[str, ...], width: int) -> Columns:
    words = (option.split(",") if isinstance(option, str) else list(option)
             if isinstance(option, Iterable) else [])
    if len(words) not in WIDTHS:
        raise InputError(f"columns is {shown(option)}; two ends and perhaps a weight are needed")
    places = [_place_of(word, titles, width) for word in words]
    if len(set(places)) < len(places):
        raise InputError(f"columns={shown(option)} names a column twice")
    return Columns((places[0], places[1]), places[2] if len(places) == WEIGHTED_WIDTH else None)


def _place_of(word: Any, titles: tuple[str, ...], width: int) -> int:
    """Return the place of a column that is given by its title, or by its number from 1."""
    name = str(word).strip()
    if titles.count(name) == 1:
        return titles.index(name)
    if name.isdecimal() and 1 <= int(name[:9]) <= width:
        return int(name) - 1
    known = f"there are {listed(titles)}" if titles else f"columns are 1 ... {width}"
    raise InputError(f"columns: {shown(name)} is not a column; {known}")
