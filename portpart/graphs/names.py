"""Values given by names of vertices, and names similar to an unknown one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from numbers import Integral
from typing import TYPE_CHECKING, Any

from portpart.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Hashable

# Names similar to an unknown one, for error messages -------------------------------------------


MAX_COMPARED = 2000
"""Maximum number of names that are compared letter by letter, in about 10 microseconds each."""

SAME_LETTERS = 3
MAX_SUGGESTED = 3


def did_you_mean(unknown: Hashable, names: Iterable[Hashable]) -> str:
    """Return ``; did you mean 'a' or 'b'?`` for the names nearest to an unknown one, or nothing.

    Only names with the same first or last letters are compared; if there are none, the first names.
    """
    if not isinstance(unknown, str):
        return ""
    known = [name for name in names if isinstance(name, str)]
    begin, end = unknown[:SAME_LETTERS], unknown[-SAME_LETTERS:]
    alike = [name for name in known if name.startswith(begin) or name.endswith(end)] or known
    near = get_close_matches(unknown, list(dict.fromkeys(alike[:MAX_COMPARED])), MAX_SUGGESTED)
    return f"; did you mean {' or '.join(map(shown, near))}?" if near else ""


def has_hash(value: object) -> bool:
    """Whether a value can be a key; only a call shows which NumPy scalars are writable."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


# Values given by names of vertices: mappings, and Series with names in their index -------------


MANY = {"vertex": "vertices", "net": "nets"}


def told_names(names: Sequence[Hashable] | None) -> Sequence[Hashable] | None:
    """Return the names, None if they are the numbers 0, 1 ... of the vertices."""
    if names is None or all(isinstance(name, Integral) and name == place
                            for place, name in enumerate(names)):
        return None
    return names


def in_order(values: Any, names: Sequence[Hashable] | None, what: str, of: str = "vertex") -> Any:
    """Return values that are given by name, in the order of `names`; other values unchanged.

    Without names the keys of a mapping are numbers from 0.  `of` is the word for a named item.
    """
    many = MANY[of]
    if names is not None:
        values = by_name(values, names, len(names), what)
    if not isinstance(values, Mapping):
        return values
    known: Sequence[Hashable] = range(len(values)) if names is None else names
    held = set(known)
    unknown = [name for name in values if name not in held]
    if unknown:
        hint = (f": {many} are numbered from 0 without gaps" if names is None
                else did_you_mean(unknown[0], names))
        raise InputError(f"{what} names {shown(unknown[0])}, which is not a {of}{hint}")
    missing = [name for name in known if name not in values]
    if missing:
        raise InputError(f"{what} has nothing for {of} {shown(missing[0])}: all {len(known)} "
                         f"{many} need a value, and {len(values)} have")
    return [values[name] for name in known]


def by_name(values: Any, names: Sequence[Hashable] | None, n: int, what: str) -> Any:
    """Return a Series with names of vertices in its index as a mapping; other values unchanged.

    Without names the index must have all numbers 0 ... n - 1.  An index that counts from 0 is
    ignored.
    """
    index = getattr(values, "index", None)
    if index is None or callable(index) or not hasattr(values, "to_numpy") or (
            hasattr(values, "columns") or hasattr(values, "__cuda_array_interface__")):
        return values
    labels = list(index)
    if labels == list(range(len(labels))):
        return values
    found = set(labels)
    are_names = found == set(range(n)) if names is None else not found.isdisjoint(names)
    if not are_names:
        return values
    if len(found) < len(labels):
        twice = Counter(labels).most_common(1)[0][0]
        raise InputError(f"{what} is a Series with {shown(twice)} twice in its index")
    return dict(zip(labels, values.to_numpy().tolist()))
