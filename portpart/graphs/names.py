"""Values that are given by names of vertices, and names that are like an unknown one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from numbers import Integral
from typing import TYPE_CHECKING, Any

from portpart.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Hashable

# Names that are like one that is unknown, for error messages -----------------------------------


MAX_COMPARED = 2000
"""Names that are compared letter by letter, which takes about 10 microseconds each."""

SAME_LETTERS = 3
MAX_SUGGESTED = 3


def did_you_mean(unknown: Hashable, names: Iterable[Hashable]) -> str:
    """Return ``; did you mean 'a' or 'b'?`` for the names nearest to an unknown one, else nothing.

    Names are compared that begin or end with the same letters; if none does, the first ones are.
    """
    if not isinstance(unknown, str):
        return ""
    known = [name for name in names if isinstance(name, str)]
    begin, end = unknown[:SAME_LETTERS], unknown[-SAME_LETTERS:]
    alike = [name for name in known if name.startswith(begin) or name.endswith(end)] or known
    near = get_close_matches(unknown, list(dict.fromkeys(alike[:MAX_COMPARED])), MAX_SUGGESTED)
    return f"; did you mean {' or '.join(map(shown, near))}?" if near else ""


def has_hash(value: object) -> bool:
    """Whether it can be a key; types alone do not show which scalars of NumPy are writable."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


# Values that are given by names of vertices: mappings, and Series with names in their index ----


MANY = {"vertex": "vertices", "net": "nets"}


def told_names(names: Sequence[Hashable] | None) -> Sequence[Hashable] | None:
    """Names that say more than the numbers 0, 1 ... of the vertices, or None."""
    if names is None or all(isinstance(name, Integral) and name == place
                            for place, name in enumerate(names)):
        return None
    return names


def in_order(values: Any, names: Sequence[Hashable] | None, what: str, of: str = "vertex") -> Any:
    """Values that are given by name, in the order of `names`; others as they are.

    Without names a mapping is by numbers from 0.  `of` says whose names they are.
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
    """A Series with names of vertices in its index as a mapping; anything else as it is.

    Without names these are 0 ... n - 1, all of them.  An index that counts from 0 says nothing.
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
