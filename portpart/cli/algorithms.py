"""``portpart algorithms``: partitioners and mappers, their presets and parameters."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import click

from portpart.cli import options
from portpart.cli.output import print_json, print_text

if TYPE_CHECKING:
    from portpart.algorithms.recipes import Entry, Parameter
    from portpart.options import Json

WIDTH = 96


@click.command("algorithms")
@click.argument("name", required=False)
@click.option("--hypergraphs", is_flag=True, help="Only algorithms for hypergraphs.")
@options.json_option
def command(name: str | None, hypergraphs: bool, as_json: bool) -> None:
    """List the algorithms and their presets; with NAME, the parameters of each preset."""
    from portpart.algorithms.mapping import list_algorithms
    from portpart.algorithms.recipes import by_name

    of_nets = list_algorithms(hypergraphs=True)
    tables = (of_nets,) if hypergraphs else (list_algorithms(), of_nets)
    if name is not None:
        chosen = by_name({key: each for table in reversed(tables) for key, each in table.items()},
                         name)
        if as_json:
            print_json(_as_object(chosen) | {"parameters": {
                preset: [vars(each) for each in chosen.parameters(preset)]
                for preset in chosen.presets}})
        else:
            _show((*_about(chosen), "", *_table_of_parameters(chosen)))
    elif as_json:
        print_json({"algorithms": [_as_object(each) for table in tables
                                   for each in table.values()]})
    else:
        for table in tables:
            for each in table.values():
                _show((*_about(each), ""))
        print_text("portpart algorithms NAME lists the parameters of each preset, for hypergraphs "
                   "with --hypergraphs.")


def _as_object(algorithm: Entry) -> dict[str, Json]:
    """Return the object of --json for one algorithm; presets have their differences from the
    default.
    """
    from portpart.algorithms.mapping import DEFAULTS

    return {
        "name": algorithm.name, "task": algorithm.task, "takes": algorithm.takes,
        "title": algorithm.title,
        "purpose": algorithm.purpose, "source": algorithm.source,
        "is_default": algorithm.name in DEFAULTS,
        "presets": {preset: algorithm.difference(preset) for preset in algorithm.presets},
    }  # fmt: skip


def _about(algorithm: Entry) -> Iterator[str]:
    """Yield the description of an algorithm, and its presets with their differences from the
    default.
    """
    from portpart.algorithms.mapping import DEFAULTS
    from portpart.algorithms.recipes import written_difference

    mark = " (the default)" if algorithm.name in DEFAULTS else ""
    yield f"{algorithm.name}{mark}"
    yield f"  for portpart {algorithm.task} of {algorithm.takes}"
    yield from _wrapped(algorithm.purpose, "  ")
    yield from _wrapped(algorithm.source, "  source: ")
    yield f"  configuration: portpart.{algorithm.kind.__name__}"
    for preset in algorithm.presets:
        text = written_difference(algorithm.difference(preset)) or "the defaults"
        yield from _wrapped(text, f"  {preset:<8} ")


def _table_of_parameters(algorithm: Entry) -> Iterator[str]:
    """Yield parameters with their values; those with equal explanations are grouped."""
    values = {preset: {each.name: each.value for each in algorithm.parameters(preset)}
              for preset in algorithm.presets}  # fmt: skip
    width = max(len(each.name) for each in algorithm.parameters())
    alike: dict[str, list[Parameter]] = {}
    for each in algorithm.parameters():
        alike.setdefault(each.meaning, []).append(each)
    for meaning, group in alike.items():
        for each in group:
            yield from _wrapped(_values_of(each, values), f"{each.name:<{width}}  ")
        yield from _wrapped(meaning, "    ")


def _values_of(parameter: Parameter, values: Mapping[str, Mapping[str, Json]]) -> str:
    """Return the default, the values of other presets, and the symbol: ``8 (fast: 2) [s]``."""
    from portpart.algorithms.recipes import written

    others = ", ".join(
        f"{preset}: {written(table.get(parameter.name))}" for preset, table in values.items()
        if table.get(parameter.name) != parameter.value)  # fmt: skip
    symbol = f"  [{parameter.symbol}]" if parameter.symbol else ""
    return written(parameter.value) + (f" ({others})" if others else "") + symbol


def _wrapped(text: str, head: str) -> list[str]:
    """Return the lines of a text that begins after `head`."""
    lines = textwrap.wrap(text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head),
                          break_on_hyphens=False)  # fmt: skip
    return lines or [head.rstrip()]


def _show(lines: Iterable[str]) -> None:
    print_text("\n".join(lines))
