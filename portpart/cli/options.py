"""Arguments and options that several commands share; names are those of the API."""

from __future__ import annotations

from decimal import Decimal

import click

from portpart.cli import files

graph_argument = click.argument("graph", metavar="GRAPH")

format_option = click.option(
    "--format",
    "file_format",
    metavar="NAME",
    help="Format of GRAPH (metis, matrix-market, edge-list, dimacs, npz); default: by its name.",
)

symmetrize_option = click.option(
    "--symmetrize", is_flag=True, help="Take the arcs of a directed graph without direction."
)

imbalance_option = click.option(
    "--imbalance",
    default="0.03",
    show_default=True,
    metavar="FRACTION",
    callback=lambda _ctx, _param, text: fraction(text),
    help="A block weighs at most (1 + FRACTION) times the average.",
)

target_option = click.option(
    "--target",
    metavar="SHARES",
    callback=lambda _ctx, _param, text: None if text is None else shares(text),
    help="Share of each block: 1,1,2 or @FILE; only ratios count. Default: equal shares.",
)

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on stdout and nothing else."
)


def shares(text: str) -> list[str]:
    """Return the numbers of ``1,1,2`` or of the file in ``@FILE``, as they are written."""
    if text.startswith("@"):
        return files.read_numbers(text[1:])
    return [number.strip() for number in text.split(",")]


def fraction(text: str) -> float:
    """Return the value of ``0.03`` or ``3%``."""
    try:
        # decimal: 2.3% is 0.023 and not the binary number below it
        value = float(Decimal(text.removesuffix("%")) / (100 if text.endswith("%") else 1))
    except ArithmeticError:
        raise click.BadParameter(f"{text!r} is not a number") from None
    if not 0 <= value < float("inf"):
        raise click.BadParameter(f"{text} is not a finite number of at least 0")
    return value
