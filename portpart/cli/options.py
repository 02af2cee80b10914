"""Arguments and options of several commands, with the names of the API."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from portpart.cli import files
from portpart.options import exact_fraction, shown

Function = TypeVar("Function", bound=Callable[..., Any])


def gathered(name: str, record: type, each: Sequence[Callable[[Any], Any]]) -> Callable[..., Any]:
    """A decorator that adds some options; the command gets their values as one record `name`."""

    def decorator(function: Function) -> Callable[..., Any]:
        @functools.wraps(function)
        def command(**given: Any) -> Any:
            own = {field.name: given.pop(field.name) for field in dataclasses.fields(record)}
            return function(**{name: record(**own)}, **given)

        for option in reversed(each):
            option(command)
        return command

    return decorator


graph_argument = click.argument("graph", metavar="GRAPH")

names_option = click.option(
    "--names",
    is_flag=True,
    help="Partition files have a name and a block on each line (for netlists, edge lists, tables "
         "with titles).",
)

imbalance_option = click.option(
    "--imbalance",
    default="0.03",
    show_default=True,
    metavar="FRACTION",
    callback=lambda _ctx, _param, text: fraction(text),
    help="A block weighs at most (1 + FRACTION) times the average.",
)

fixed_option = click.option(
    "--fixed", metavar="FILE",
    help="Fixed vertices: a block per line, -1 if free; or lines of a vertex (from 1) and a block.")

initial_option = click.option(
    "--initial", metavar="FILE", help="Initial partition, one block per line.")

starts_option = click.option(
    "--starts", type=click.IntRange(min=1),
    help="Number of initial partitions of the coarsest graph. Default: that of the preset.")

time_limit_option = click.option(
    "--time-limit", type=float, metavar="SECONDS", help="Begin no new step after this time.")

target_option = click.option(
    "--target",
    metavar="SHARES",
    callback=lambda _ctx, _param, text: checked_shares(text),
    help="Share of each block, in any unit: 1,1,2 or @FILE. Default: equal shares.",
)

objective_option = click.option(
    "--objective", type=click.Choice(["cut", "volume", "km1", "soed"]),
    help="Graphs: cut (default), volume. Hypergraphs: km1 (default), cut, soed.",
)
min_block_weight_option = click.option(
    "--min-block-weight", type=click.IntRange(min=0), help="Minimum weight of every block.",
)
device_option = click.option(
    "--device", default="auto", show_default=True, help="cpu, cuda, cuda:1 ...",
)
devices_option = click.option(
    "--devices", metavar="LIST",
    help="GPUs that work together: all, or numbers such as 0,1.",
)
seed_option = click.option("--seed", type=int, default=0, show_default=True)
threads_option = click.option(
    "--threads", type=click.IntRange(min=1),
    help="Maximum number of CPU threads. Default: all cores.",
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
    from portpart.api.listing import DEFAULTS, list_algorithms

    names = (f"{name}, the default" if name in DEFAULTS else name
             for name, each in list_algorithms().items() if each.task == task)  # fmt: skip
    of_nets = f" Hypergraphs: {'; '.join(list_algorithms(True))}." if task == "partition" else ""
    return "; ".join(names) + f".{of_nets} See portpart algorithms."


def presets(task: str) -> str:
    """Return the names of the presets of each algorithm for a task."""
    from portpart.api.listing import list_algorithms

    table = list_algorithms()
    of_nets = {name: each for name, each in list_algorithms(True).items() if name not in table}
    return "; ".join(f"{', '.join(each.presets)} ({name})"
                     for name, each in (table | of_nets).items()
                     if each.task == task) + "."  # fmt: skip


SYMMETRIZE_WORDS = {"true": True, "sum": "sum", "max": "max"}
"""Values of --symmetrize; without one it stands for the first."""


def with_values(arguments: list[str]) -> list[str]:
    """Arguments in which a bare --symmetrize has its value: an optional one follows after =."""
    return ["--symmetrize=true" if word == "--symmetrize" else word for word in arguments]


def _common_nodes(text: str | None) -> int | str | None:
    """Return the value of --common-nodes."""
    if text is None or text == "face":
        return text
    if not text.isdecimal() or int(text) < 1:
        raise click.BadParameter(f"{shown(text)} is neither a number of at least 1 nor 'face'")
    return int(text)


common_nodes_option = click.option(
    "--common-nodes", metavar="NUMBER|face",
    callback=lambda _ctx, _param, text: _common_nodes(text),
    help="Mesh: minimum number of common nodes of adjacent elements, or face: they share a face. "
         "Default: 1 of METIS meshes, face of others.")

_READING = (
    click.option("--symmetrize", type=click.Choice([*SYMMETRIZE_WORDS]), metavar="[=sum|max]",
                 callback=lambda _ctx, _param, word: SYMMETRIZE_WORDS.get(word),
                 help="Read a directed graph. If both directions of an edge exist, their weights "
                      "must be equal, are added (sum), or the larger is used (max)."),
    click.option("--weights", type=click.Choice(["keep", "ignore", "abs", "round"]),
                 help="Edge weights: keep, ignore, absolute values, or scale and round. Default: "
                      "keep, but ignore the values of real matrices."),
    click.option("--weight-scale", type=float, metavar="FACTOR",
                 help="Scale of --weights round. Default: the largest safe power of ten."),
    click.option("--relabel/--no-relabel", default=None,
                 help="Edge list: number the vertices that occur, or use their numbers from 0."),
    click.option("--columns", metavar="ENDS[,WEIGHT]",
                 help="Edge list: columns to read, by title or number: source,target or 1,2,4."),
    click.option("--header/--no-header", default=None,
                 help="Edge list: the first line has titles, or an edge. Default: detected."),
    click.option("--format", "file_format", metavar="NAME",
                 help="Format of GRAPH (metis, matrix-market, edge-list, dimacs, npz, dense, "
                      "verilog, blif, aiger, mpi-profile, metis-mesh, meshio, hmetis, patoh, "
                      "ispd98, bookshelf); default: by content and name."),
    click.option("--top", metavar="MODULE",
                 help="Verilog, BLIF: top module. Default: the one that no other instantiates."),
    click.option("--model", type=click.Choice([*files.GRAPH_MODELS, *files.NET_MODELS]),
                 help="Netlists: nets as star (driver to sinks, the default), clique or "
                      "hypergraph. Matrices: hypergraph with row-net, column-net or fine-grain "
                      "(default: a graph)."),
    click.option("--max-fanout", type=click.IntRange(min=0),
                 help="Netlists: leave out nets with more sinks. Default: keep all."),
    click.option("--ports", is_flag=True, default=None,
                 help="Netlist as hypergraph: ports are also vertices, of weight 0."),
    click.option("--diagonal", is_flag=True, default=None,
                 help="Matrix as hypergraph: net i always has the pin i."),
    click.option("--areas", metavar="FILE",
                 help="Weights of vertices. ISPD98, Bookshelf: .are or .nodes file; netlists: "
                      "lines of a cell and its area."),
    click.option("--mesh", type=click.Choice(["dual", "nodal"]),
                 help="Mesh: vertices are the elements (dual, the default) or the nodes."),
    common_nodes_option,
    click.option("--max-vertices", type=click.IntRange(min=0),
                 help="Refuse larger graphs. Default: 2^22, or 16 per byte of text."),
)


reading_options = gathered("reading", files.ReadingOptions, _READING)
"""How GRAPH is read."""


def checked_shares(text: str | None) -> str | None:
    """Refuse a file's name where its numbers are meant; nothing is read before all options are."""
    if text is not None and not text.startswith(files.AT) and os.path.isfile(text):
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
