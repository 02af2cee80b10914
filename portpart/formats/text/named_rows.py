"""Edge lists as spreadsheets and scripts write them: names of vertices, quoted words, titles.

They are read in Python, row by row; compiled code reads lists of plain numbers (`edge_list`).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from portpart.errors import GraphFormatError, shown
from portpart.formats.text.edge_rows import EdgeRows
from portpart.formats.text.files import Source
from portpart.formats.text.fractions import FRACTION
from portpart.formats.text.rules import HOW, Columns, ReadingRules, columns_of
from portpart.graphs import ENDS, first_true

INTEGER = re.compile(r"[+-]?\d{1,18}")
NUMBER = re.compile(FRACTION.pattern.decode())

LARGEST_EXACT = 2**53
"""Integers up to this one are exact as floats."""

DELIMITERS = "\t;,"
"""Separators of words; if none of them occurs, blanks separate words."""


@dataclass
class _NamedWords:
    """Words of the chosen columns, row by row, and titles of all columns, if any."""

    first: list[str]
    second: list[str]
    weights: list[str] | None
    lines: list[int]

    def without_first(self) -> _NamedWords:
        """Return the rows after the first one."""
        weights = None if self.weights is None else self.weights[1:]
        return _NamedWords(self.first[1:], self.second[1:], weights, self.lines[1:])

    def first_is_an_edge(self, rest: _NamedWords) -> bool:
        """Whether the first row has a number as weight, or a vertex that occurs in other rows."""
        if self.weights and NUMBER.fullmatch(self.weights[0]):
            return True
        return any(word in side for word in (self.first[0], self.second[0])
                   for side in (rest.first, rest.second))

    def are_numbers(self) -> bool:
        """Whether all ends are integers."""
        return all(INTEGER.fullmatch(word) for side in (self.first, self.second) for word in side)


def read_named_rows(source: Source, rules: ReadingRules, option: str | None,
                    header: bool | None) -> tuple[list[str] | None, EdgeRows]:
    """Return the names of vertices in the order in which they occur, and edges between their
    places.

    If all names are integers, the names are None, and the ends are the integers.

    Parameters
    ----------
    source, rules
    option : str or sequence, optional
        The option `columns`.
    header : bool, optional
        Whether the first line has titles; by default, this is recognised.
    """
    records = _records(source)
    line, top = next(records, (1, []))
    if not top:
        raise GraphFormatError(f"{source.name}: holds no edges")
    titles = () if header is False else tuple(top)
    columns = columns_of(source, line, titles, len(top), option, not rules.reads_weights(True))
    weighted = columns.weight is not None and rules.reads_weights(True)
    words = _words(source, chain([(line, top)], records), len(top), columns, weighted)
    if _has_titles(source, words, tuple(top)) if header is None else header:
        words = words.without_first()
    if not words.lines:
        raise GraphFormatError(f"{source.name}: holds no edges")
    weights = None if words.weights is None else _weights(source, words, rules)
    names, ends = _numbered(words)
    return names, EdgeRows(ends, weights, words.lines.__getitem__)


def _records(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Yield line and words of each row."""
    lines = _Numbered(source)
    first = next((line for _, _, line in source.lines() if line[:1] not in (b"#", b"%")), b"")
    delimiter = next((letter for letter in DELIMITERS if letter.encode() in first), None)
    if delimiter is None and b'"' not in first:
        for line in lines:
            yield lines.number, line.split()
        return
    reader = csv.reader(lines, delimiter=delimiter or " ", skipinitialspace=True)
    try:
        for words in reader:
            yield lines.number, [word.strip() for word in words]
    except csv.Error as problem:
        source.refuse(lines.number, f"no row of a table: {problem}")


class _Numbered:
    """Lines of a text that are neither blank nor comments; `number` is that of the last one."""

    def __init__(self, source: Source) -> None:
        self.number = 0
        self._lines = io.TextIOWrapper(io.BytesIO(source.data), "utf-8",
                                       "surrogateescape", newline="\n")

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.number += 1
            text = line.strip()
            if text and text[0] not in "#%":
                yield text


def _words(source: Source, records: Iterable[tuple[int, list[str]]], width: int,
           columns: Columns, weighted: bool) -> _NamedWords:
    """Return the words of all rows, including the first one."""
    (u, v), weight = columns.ends, columns.weight if weighted else None
    words = _NamedWords([], [], None if weight is None else [], [])
    for line, row in records:
        if len(row) != width:
            source.refuse(line, f"{len(row)} columns, where the first line has {width}")
        if not row[u] or not row[v]:
            source.refuse(line, "an end of an edge is missing")
        words.first.append(row[u])
        words.second.append(row[v])
        words.lines.append(line)
        if words.weights is not None and weight is not None:
            words.weights.append(row[weight])
    return words


def _has_titles(source: Source, words: _NamedWords, top: tuple[str, ...]) -> bool:
    """Whether the first row has titles; raises an error if that is unclear."""
    rest = words.without_first()
    if words.first_is_an_edge(rest):
        return False
    if rest.lines and rest.are_numbers():
        return not words.are_numbers()
    if words.weights and rest.lines and all(map(NUMBER.fullmatch, rest.weights or [])):
        return True
    known = {title.lower() for title in top}
    if rest.lines and any(known.issuperset(pair) for pair in ENDS):
        return True
    source.refuse(words.lines[0], f"{shown(', '.join(top))} may be titles or an edge: pass "
                                  "header=True or header=False (--header, --no-header)")


def _weights(source: Source, words: _NamedWords, rules: ReadingRules) -> np.ndarray:
    """Return weights as integers, or as floats if the rules allow fractions and there are some."""
    texts = words.weights or []
    for line, word in zip(words.lines, texts):
        if not NUMBER.fullmatch(word):
            source.refuse(line, f"weight {shown(word)} is not a number: {HOW}")
    if all(map(INTEGER.fullmatch, texts)):
        return np.array(list(map(int, texts)), np.int64)
    values = np.array(list(map(float, texts)))
    if rules.takes_fractions:
        return values
    row = first_true((values != np.rint(values)) | ~(np.abs(values) <= LARGEST_EXACT))
    if row is not None:
        source.refuse(words.lines[row], f"weight {texts[row]} is not an integer (or above 2**53): "
                      'weights="round" scales and rounds, weights="ignore" leaves weights out')
    return values.astype(np.int64)


def _numbered(words: _NamedWords) -> tuple[list[str] | None, np.ndarray]:
    """Return names of vertices in the order in which they occur, and the ends as their places."""
    if words.are_numbers():
        return None, np.array([list(map(int, words.first)), list(map(int, words.second))])
    number: dict[str, int] = {}
    ends = [(number.setdefault(u, len(number)), number.setdefault(v, len(number)))
            for u, v in zip(words.first, words.second)]
    return list(number), np.array(ends, np.int64).T
