"""Records and words: values that a kernel receives together, under one name.

A parameter annotated with a record class means all its fields; one annotated with a class of words
is an array of int64 whose elements have names.

>>> class Csr(Record):
...     begin: Any
...     end: Any
>>> class Level(Words):
...     vertices: int
...     running: int
>>> Csr(begin=1, end=2).end, Level.running, Level([5, 7]).running
(2, 1, 7)
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from portpart.backends.language.arrays import Allocator, Declared, Part, Sliced
from portpart.backends.language.source import meaning_of

if TYPE_CHECKING:
    from typing_extensions import Self, dataclass_transform
else:
    def dataclass_transform(**_: Any) -> Any:  # noqa: D103
        return lambda cls: cls


# Records and words ------------------------------------------------------------------------------


@dataclass_transform()
class Record:
    """Arrays and numbers that kernels receive together; a subclass lists them as annotations.

    Subclasses are used like frozen dataclasses, which would compile functions for each of them when
    it is imported. A field may be absent (None), or a record itself. Kernels receive only the
    fields that they read or pass on. A subclass without fields can be any of its subclasses, which
    is determined by the device functions that the parameter is passed to.

    A field declared by ``work()`` is a work array: ``allocate`` makes those of a record, and one
    that is not allocated is scratch of a program.

    A field declared by ``word()`` is a number of the record that kernels change, as in
    ``lists.heavy = 0``. Such numbers are words of the class ``own_words``, which may be part of an
    array that several records share.

    >>> class Lists(Record):
    ...     listed: Any
    ...     heavy: int = word()
    >>> class Level(Lists.own_words):
    ...     running: int
    >>> lists = Lists(listed=[3]).over(Level([5, 7]))
    >>> lists.heavy, Level.heavy == Lists.heavy
    (7, True)
    """

    field_names: ClassVar[tuple[str, ...]] = ()
    field_types: ClassVar[dict[str, Any]] = {}
    defaults: ClassVar[dict[str, Any]] = {}
    declared: ClassVar[dict[str, Declared]] = {}
    own_words: ClassVar[Any] = None
    _outliving: ClassVar[list[str]] = []

    def __init_subclass__(cls) -> None:
        own = get_annotations(cls)
        counted = [name for name in own if isinstance(vars(cls).get(name), _WordOfRecord)]
        if counted:
            cls.own_words = type(f"{cls.__name__}Words", (Words,), {
                "__annotations__": {name: own.pop(name) for name in counted},
                "__doc__": f"Words of `{cls.__name__}`.", "__module__": cls.__module__})
        cls.field_types = {**cls.field_types, **own}
        cls.field_names = tuple(cls.field_types)
        cls.defaults = {**cls.defaults,
                        **{name: vars(cls)[name] for name in own if name in vars(cls)}}
        cls.declared = {name: default for name, default in cls.defaults.items()
                        if isinstance(default, Declared)}
        cls._outliving = [name for name, array in cls.declared.items() if array.outlives]
        if "__init__" not in vars(cls):
            cls.__init__ = Record.__init__  # type: ignore[method-assign]

    def __init__(self, *values: Any, **fields: Any) -> None:
        """Create the constructor of the class with its first record, and call it.

        Creating it takes time, and no process makes records of all classes.
        """
        kind: Any = type(self)
        kind.__init__ = _constructor(kind.field_names, kind.defaults)
        kind.__init__(self, *values, **fields)

    def __setattr__(self, name: str, value: Any) -> None:
        if not self.has_word(name):
            raise AttributeError(f"a record does not change: {name!r} is set; make another one")
        self.own_words[self.own_words.indices[name]] = value

    def __getitem__(self, index: int) -> Any:
        return self.own_words[index]

    def __setitem__(self, index: int, value: Any) -> None:
        self.own_words[index] = value

    @property
    def dtype(self) -> Any:
        """Type of its words."""
        return self.own_words.dtype

    @classmethod
    def has_word(cls, name: str) -> bool:
        """Whether a field is declared by ``word()``."""
        return cls.own_words is not None and name in cls.own_words.indices

    def over(self, words: Words) -> Self:
        """Return the record with words that are part of the given array."""
        return self.replaced(own_words=words)

    def with_words(self, **values: int) -> Self:
        """Return the record with words of these values and zeros, as from :meth:`Words.of`."""
        return self.over(type(self).own_words.of(**values))

    @classmethod
    def kind_of(cls, field: str) -> Kind | None:
        """Return the class of a field that is a record or words; None for other fields."""
        kind = cls.own_words if field == "own_words" else cls.field_types[field]
        if isinstance(kind, str):
            kind = meaning_of(kind, vars(sys.modules[cls.__module__]).get)
        return kind if isinstance(kind, type) and issubclass(kind, (Record, Words)) else None

    def named(self) -> Iterator[tuple[str, Any]]:
        """Yield name and value of each field."""
        return ((name, getattr(self, name)) for name in self.field_names)

    def replaced(self, **values: Any) -> Self:
        """Return the record with other values of some fields."""
        result = object.__new__(type(self))
        result.__dict__.update(self.__dict__)
        result.__dict__.update(values)
        if isinstance(self, Sliced) and self.slices:
            result.__dict__["slices"] = {name: each for name, each in self.slices.items()
                                         if name not in values}
        return result

    # work arrays --------------------------------------------------------------------------

    @classmethod
    def allocate(cls, space: Allocator, sizes: Any, **given: Any) -> Self:
        """Allocate the work arrays for a problem of these sizes; all other fields are given.

        Parameters
        ----------
        sizes
            Values that the declared lengths depend on.
        """
        return cls(**given, **cls._arrays(space, sizes, [
            name for name in cls.declared if name not in given]))

    @classmethod
    def outliving(cls, space: Allocator, sizes: Any, **given: Any) -> Self:
        """Allocate the arrays that are needed after a program; the others stay scratch."""
        return cls(**given, **cls._arrays(space, sizes, cls._outliving))

    @classmethod
    def _arrays(cls, space: Allocator, sizes: Any, names: Iterable[str]) -> dict[str, Any]:
        declared = cls.declared
        parts: dict[bool, dict[str, Part]] = {False: {}, True: {}}
        for name in names:
            kind, length, zeros, _ = declared[name]
            dtype = kind if isinstance(kind, np.dtype) else np.dtype(kind(sizes))
            parts[zeros][name] = length(sizes), dtype
        return {name: array for zeros, each in parts.items() if each
                for name, array in zip(each, space.allocate([*each.values()], zeros))}

    def lasting(self, before: Any, after: Any) -> Self:
        """Return the record for other sizes, without arrays whose length changes.

        They are absent, and `completed` makes them.
        """
        return self.replaced(**{name: None for name, array in self.declared.items()
                                if array.length(before) != array.length(after)})

    def completed(self, space: Allocator, sizes: Any) -> Self:
        """Return the record with its absent arrays made."""
        absent = [name for name in self.declared if getattr(self, name) is None]
        return self.replaced(**self._arrays(space, sizes, absent)) if absent else self

    @classmethod
    def num_bytes(cls, sizes: Any) -> int:
        """Return the bytes of all work arrays together."""
        return sum(array.num_bytes(sizes) for array in cls.declared.values())


def word() -> Any:
    """Declare a field of a record as a number that kernels change."""
    return _WordOfRecord()


def absent() -> Any:
    """Declare a field that is absent by default: it is set later, or never read."""
    return None


class _WordOfRecord:
    """Descriptor of a word of a record: its index for the class, its value for an instance."""

    name = ""

    def __set_name__(self, owner: type[Record], name: str) -> None:
        self.name = name

    def __get__(self, instance: Record | None, owner: type[Record]) -> Any:
        index = owner.own_words.indices[self.name]
        return index if instance is None else instance.own_words[index]


def _constructor(names: tuple[str, ...], defaults: dict[str, Any]) -> Any:
    """Return a function that makes a record of these fields, in as few steps as possible.

    Fields without a default come first.
    """
    taken = [name for name in names if name not in defaults]
    taken += [f"{name}=_defaults[{name!r}]" for name in names if name in defaults]
    lines = [f"def __init__({', '.join(['self', *taken])}):", " _fields = self.__dict__",
             *(f" _fields[{name!r}] = {name}" for name in names)]
    namespace: dict[str, Any] = {"_defaults": defaults}
    exec("\n".join(lines), namespace)
    return namespace["__init__"]


class Nothing(Record):
    """A record without fields, for functions that need none."""


class StaticArray(Record):
    """Numbered variables of a function: ``nets[j]``, where j is known at compile time.

    A subclass sets their number. ``nets = Four()`` makes them without values; a device function may
    receive all of them as one parameter.

    >>> class Four(StaticArray, size=4):
    ...     pass
    >>> nets = Four()
    >>> for j in static_range(4):
    ...     nets[j] = 2 * j
    >>> nets[3]
    6
    """

    size: ClassVar[int] = 0

    def __init_subclass__(cls, size: int) -> None:
        cls.size = size
        cls.field_names = tuple(map(str, range(size)))
        cls.field_types = dict.fromkeys(cls.field_names, Any)

    def __init__(self) -> None:
        """Make variables without values."""

    def __getitem__(self, index: int) -> Any:
        return vars(self)[str(index)]

    def __setitem__(self, index: int, value: Any) -> None:
        vars(self)[str(index)] = value


class Scope(Record):
    """Records and words that functions receive together, by their names in a program.

    A launch builds a scope. It may be passed to a function whose scope has fewer fields.
    """


class Words:
    """An array of int64 whose elements have names; a subclass lists them as annotations.

    Words of several pieces may be parts of one array, which is written and copied as a whole:
    ``class Level(Figures, Flags)``. A function receives the parts that it uses.

    ``Level.running`` is the index of a word, ``level.running`` its value in the array of an
    instance. Kernels may use both, and assign to the value.
    """

    indices: dict[str, int]
    whole: type[Words] | None = None
    _zeros: dict[str, int]

    def __init_subclass__(cls) -> None:
        cls.whole, names = None, [*get_annotations(cls)]
        for part in (base for base in cls.__bases__ if base not in (Words, Sliced)):
            assert issubclass(part, Words)
            assert part.whole is None, f"{part.__name__} is part of {part.whole}"
            part.whole = cls
            part._number(len(names))
            names += part.indices
        assert len(names) == len({*names}), "two parts have a word of one name"
        cls.indices = dict.fromkeys(names, 0)
        cls._number(0)
        cls._zeros = dict.fromkeys(cls.indices, 0)

    @classmethod
    def _number(cls, first: int) -> None:
        """Assign the words their places in the array."""
        cls.indices = {name: first + place for place, name in enumerate(cls.indices)}
        for name, index in cls.indices.items():
            setattr(cls, name, _Word(index))

    def __init__(self, array: Any) -> None:
        self.array = array

    @classmethod
    def zeros(cls) -> Self:
        """Return words of the host that are all zero."""
        return cls(np.zeros(len(cls.indices), np.int64))

    @classmethod
    def of(cls, **values: int) -> Self:
        """Return words of these values and zeros, which are sent with a program's arguments."""
        words = cls._zeros | values
        if len(words) > len(cls._zeros):
            unknown = ", ".join(sorted(values.keys() - cls._zeros.keys()))
            raise TypeError(f"{cls.__name__} has no word {unknown}")
        return cls(tuple(words.values()))

    @property
    def own_words(self) -> Self:
        """Return itself: if only the words of a record are used, words can replace it."""
        return self

    @property
    def dtype(self) -> Any:
        """Type of the array."""
        return self.array.dtype

    def __getitem__(self, index: int) -> Any:
        return self.array[index]

    def __setitem__(self, index: int, value: Any) -> None:
        self.array[index] = value


Kind = type[Record] | type[Words]


class _Word:
    """Descriptor of one word: its index for the class, its value for an instance."""

    def __init__(self, index: int) -> None:
        self.index = index

    def __get__(self, instance: Words | None, owner: type[Words]) -> Any:
        return self.index if instance is None else instance.array[self.index]

    def __set__(self, instance: Words, value: Any) -> None:
        instance.array[self.index] = value
