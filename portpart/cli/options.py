"""Arguments and options of several commands, with the names of the API.

Options of the functions that partition are those of their table. The fields of records are also
options.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from functools import wraps
from typing import Any, TypeVar

import click

from portpart.api import TABLE, checked
from portpart.errors import MAX_DIGITS, InputError, shown
from portpart.options import exact_fraction

Function = TypeVar("Function", bound=Callable[..., Any])
Decorator = Callable[[Function], Function]

AT = "@"
"""Prefix of a value of --target that is a file."""

HYPERGRAPH = "hypergraph"
GRAPH_MODELS = ("star", "clique")
NET_MODELS = (HYPERGRAPH, "row-net", "column-net", "fine-grain")
"""Values of --model for a hypergraph: of a netlist, or of a matrix."""

TYPES = {"int": int, "int | None": int, "float | None": float}
"""Types of options by their annotation; the text of other options is checked."""


def flag(*names: str, **settings: Any) -> Any:
    """Return a field of a record that is an option: its names, by default its own, and settings of
    click.
    """
    return field(default=settings.get("default"), metadata={"names": names, "settings": settings})


def gathered(name: str, record: type) -> Decorator[Any]:
    """Return a decorator that adds the options of a record, which the command has as `name`."""
    def decorator(function: Function) -> Any:
        @wraps(function)
        def command(**given: Any) -> Any:
            own = {each.name: given.pop(each.name) for each in fields(record)}
            return function(**{name: record(**own)}, **given)

        for each in reversed(fields(record)):
            names = each.metadata["names"] or (_long(each.name),)
            click.option(*names, each.name, **each.metadata["settings"])(command)
        return command

    return decorator


def of_call(*names: str, task: str = "partition", **changes: dict[str, Any]) -> Decorator[Any]:
    """Return a decorator that adds options of the functions that partition, from their table.

    Parameters
    ----------
    names : str
    task : {"partition", "map"}
        Task of the algorithms and presets that the help lists.
    changes : dict
        Unusual settings of click, by the name of the option.
    """
    def decorator(function: Function) -> Function:
        for name in reversed(names):
            own = changes.get(name, {})
            lazy = {"cls": LazyHelp, "describe": LAZY_HELP[name], "task": task} if (
                name in LAZY_HELP and "help" not in own) else {}
            click.option(*_words(name), name, **{**settings_of(name), **lazy, **own})(function)
        return function

    return decorator


def settings_of(name: str) -> dict[str, Any]:
    """Return the settings of click for an option of the table."""
    entry = TABLE[name]
    words, default = entry.metadata, entry.default
    is_flag = str(entry.type).startswith("bool")
    kind = TYPES.get(str(entry.type), str)
    found: dict[str, Any] = {"help": f"{words['sentence']} {words['shell']}".strip()}
    if default is MISSING:
        found |= {"required": True}
    elif default is not None:
        found |= {"default": default if kind is int else str(default), "show_default": True}
    if words["choices"]:
        return found | {"type": click.Choice([*words["choices"]])}
    if is_flag:
        return found | {"default": None}
    return found | {"type": kind, "metavar": words["metavar"],
                    "callback": lambda _ctx, _param, value: _value(name, value, kind)}


def _value(name: str, value: Any, kind: type) -> Any:
    """The value of an option; text but for rounds as it is, which the call checks again."""
    if value is None:
        return None
    if name in CONVERTED:
        return CONVERTED[name](value)
    try:
        found = checked(name, value)
    except InputError as problem:
        raise click.BadParameter(str(problem)) from None
    return value if kind is str and name != "rounds" else found


def _words(name: str) -> tuple[str, ...]:
    """Return the words of an option on the command line."""
    long = _long(name)
    if str(TABLE[name].type).startswith("bool"):
        return (f"{long}/--no{long[1:]}",)
    return ("-k",) if name == "k" else (long,)


def _long(name: str) -> str:
    return f"--{name.replace('_', '-')}"


graph_argument = click.argument("graph", metavar="GRAPH")

names_option = click.option(
    "--names",
    is_flag=True,
    help="Partition files have a name and a block on each line (for netlists, edge lists, tables "
         "with titles).",
)

quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress display.")
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on stdout and nothing else."
)


class LazyHelp(click.Option):
    """An option whose help comes from the library, which is imported only for the help."""

    def __init__(self, *names: Any, describe: Callable[[str], str], task: str,
                 **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.describe, self.task = describe, task

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        self.help = self.describe(self.task)
        return super().get_help_record(ctx)


def algorithms(task: str) -> str:
    """Return the names of the algorithms for a task."""
    from portpart.algorithms.mapping import DEFAULTS, list_algorithms

    names = (f"{name}, the default" if name in DEFAULTS else name
             for name, each in list_algorithms().items() if each.task == task)  # fmt: skip
    of_nets = f" Hypergraphs: {'; '.join(list_algorithms(True))}." if task == "partition" else ""
    return "; ".join(names) + f".{of_nets} See portpart algorithms."


def presets(task: str) -> str:
    """Return the names of the presets of each algorithm for a task."""
    from portpart.algorithms.mapping import list_algorithms

    table = list_algorithms()
    of_nets = {name: each for name, each in list_algorithms(True).items() if name not in table}
    return "; ".join(f"{', '.join(each.presets)} ({name})"
                     for name, each in (table | of_nets).items()
                     if each.task == task) + "."  # fmt: skip


LAZY_HELP = {"algorithm": algorithms, "preset": presets}
"""Functions that describe the values of options that the library lists."""


SYMMETRIZE_WORDS = {"true": True, "sum": "sum", "max": "max"}
"""Values of --symmetrize; without one, the first is used."""


def with_values(arguments: list[str]) -> list[str]:
    """Return the arguments with a value for a bare --symmetrize: optional values follow after =."""
    return ["--symmetrize=true" if word == "--symmetrize" else word for word in arguments]


def _common_nodes(text: str | None) -> int | str | None:
    """Return the value of --common-nodes."""
    if text is None or text == "face":
        return text
    if not text.isdecimal() or len(text) > MAX_DIGITS or int(text) < 1:
        raise click.BadParameter(f"{shown(text)} is neither a number of at least 1 nor 'face'")
    return int(text)


COMMON_NODES: dict[str, Any] = {
    "metavar": "NUMBER|face", "callback": lambda _ctx, _param, text: _common_nodes(text),
    "help": "Mesh: minimum number of common nodes of adjacent elements, or face: they share a "
            "face. Default: 1 of METIS meshes, face of others."}


@dataclass(frozen=True)
class ReadingOptions:
    """Options of reading a graph; None: by the name, then by the content."""

    symmetrize: bool | str | None = flag(
        type=click.Choice([*SYMMETRIZE_WORDS]), metavar="[=sum|max]",
        callback=lambda _ctx, _param, word: SYMMETRIZE_WORDS.get(word),
        help="Read a directed graph. If both directions of an edge exist, their weights must be "
             "equal, are added (sum), or the larger is used (max).")
    weights: str | None = flag(
        type=click.Choice(["keep", "ignore", "abs", "round"]),
        help="Edge weights: keep, ignore, absolute values, or scale and round. Default: keep, but "
             "ignore the values of real matrices.")
    weight_scale: float | None = flag(
        type=float, metavar="FACTOR",
        help="Scale of --weights round. Default: the largest safe power of ten.")
    relabel: bool | None = flag(
        "--relabel/--no-relabel", default=None,
        help="Edge list: number the vertices that occur, or use their numbers from 0.")
    columns: str | None = flag(
        metavar="ENDS[,WEIGHT]",
        help="Edge list: columns to read, by title or number: source,target or 1,2,4.")
    header: bool | None = flag(
        "--header/--no-header", default=None,
        help="Edge list: the first line has titles, or an edge. Default: detected.")
    file_format: str | None = flag(
        "--format", metavar="NAME",
        help="Format of GRAPH (metis, matrix-market, edge-list, dimacs, npz, dense, verilog, blif, "
             "aiger, mpi-profile, metis-mesh, meshio, hmetis, patoh, ispd98, bookshelf); default: "
             "by content and name.")
    top: str | None = flag(
        metavar="MODULE",
        help="Verilog, BLIF: top module. Default: the one that no other instantiates.")
    model: str | None = flag(
        type=click.Choice([*GRAPH_MODELS, *NET_MODELS]),
        help="Netlists: nets as star (driver to sinks, the default), clique or hypergraph. "
             "Matrices: hypergraph with row-net, column-net or fine-grain (default: a graph).")
    max_fanout: int | None = flag(
        type=click.IntRange(min=0),
        help="Netlists: leave out nets with more sinks. Default: keep all.")
    ports: bool | None = flag(
        is_flag=True, default=None,
        help="Netlist as hypergraph: ports are also vertices, of weight 0.")
    diagonal: bool | None = flag(
        is_flag=True, default=None, help="Matrix as hypergraph: net i always has the pin i.")
    areas: str | None = flag(
        metavar="FILE",
        help="Weights of vertices. ISPD98, Bookshelf: .are or .nodes file; netlists: lines of a "
             "cell and its area.")
    mesh: str | None = flag(
        type=click.Choice(["dual", "nodal"]),
        help="Mesh: vertices are the elements (dual, the default) or the nodes.")
    common_nodes: int | str | None = flag(**COMMON_NODES)
    max_vertices: int | None = flag(
        type=click.IntRange(min=0),
        help="Refuse larger graphs. Default: 2^22, or 16 per byte of text.")


reading_options = gathered("reading", ReadingOptions)
"""Options of reading GRAPH."""


def checked_shares(text: str | None) -> str | None:
    """Raise an error for a file's name in place of numbers, before anything is read."""
    if text is not None and not text.startswith(AT) and os.path.isfile(text):
        raise click.BadParameter(f"{shown(text)} is a file, whose numbers are @{text}")
    return text


def fraction(text: str) -> float:
    """Return the value of ``0.03``, ``3%`` or ``1/30``."""
    try:
        # decimal: 2.3% is 0.023 and not the binary number below it
        value = float(exact_fraction(text))
    except OverflowError:
        raise click.BadParameter(f"{shown(text)} is beyond 1.8e308") from None
    except ValueError as problem:
        raise click.BadParameter(f"{shown(text)}: {problem}") from None
    if value < 0:
        raise click.BadParameter(f"{shown(text)} is not a finite number of at least 0")
    return value


CONVERTED: dict[str, Callable[[Any], Any]] = {"imbalance": fraction, "target": checked_shares}
"""Options that the command line accepts in more forms."""
