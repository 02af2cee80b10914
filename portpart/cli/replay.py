"""``portpart replay``: apply the edits of a netlist to a session, round by round."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from portpart.api import SESSION_MIGRATION
from portpart.cli import files, options
from portpart.cli.output import INFEASIBLE, OK, grouped, libraries_on_stderr, print_json, print_text
from portpart.errors import shown
from portpart.options import whole_number

if TYPE_CHECKING:
    from portpart.formats.netlist import NetlistEdits
    from portpart.sessions import Session

OBJECTIVES_OF = {"hypergraph": ("km1", "cut", "soed"), "star": ("cut",)}
"""Objectives by model; the first of each is the default."""

NATURAL = "natural"

MAX_ROUNDS = 1 << 31

COLUMNS = ("round", "value", "imbalance", "moved", "migration", "ms", "from scratch")


def _rounds(_ctx: click.Context, _param: click.Parameter, text: str) -> int | str:
    if text == NATURAL:
        return text
    if not text.isdecimal() or not 0 < whole_number("rounds", text) < MAX_ROUNDS:
        raise click.BadParameter(f"{shown(text)} is neither a number of rounds nor {NATURAL!r}")
    return int(text)


@click.command("replay")
@click.argument("netlist", metavar="NETLIST")
@click.argument("trace", metavar="TRACE")
@options.of_call("k")
@click.option("--rounds", default="100", show_default=True, metavar="N|natural",
              callback=_rounds, help="Number of rounds, with equal numbers of structural lines; "
                                     "natural: a round ends at each read_spef or report_... line.")
@click.option("--model", type=click.Choice([*OBJECTIVES_OF]), default="hypergraph",
              show_default=True, help="Nets as hyperedges, or a graph with edges from drivers to "
                                      "sinks (star).")
@options.of_call("objective", objective={"type": click.Choice(["cut", "km1", "soed"]),
                                         "help": "Default: km1; with star: cut."})
@click.option("--compare", type=click.IntRange(min=1), metavar="N",
              help="Also partition every Nth round and the last from scratch.")
@options.of_call("effort", "migration", "imbalance", "algorithm", "preset",
                 migration={"default": str(SESSION_MIGRATION)})
@click.option("--top", metavar="MODULE", help="Top module of the netlist.")
@click.option("--areas", metavar="FILE",
              help="Weights of gates: lines of a cell and its area; ports weigh 0.")
@options.of_call("device", "seed", "threads")
@options.json_option
def command(
    netlist: str, trace: str, k: int, rounds: int | str, model: str, objective: str | None,
    compare: int | None, effort: str, migration: str, top: str | None, areas: str | None,
    as_json: bool, **settings: Any,
) -> int:  # fmt: skip
    """Partition NETLIST into k blocks, and apply the edits of TRACE, an .ops file.

    The vertices are gates and ports, of weight 1 without --areas.  --json prints one object per
    round.  The exit code is 1 if a block exceeds its weight limit in some round.
    """
    files.one_standard_input(NETLIST=netlist, TRACE=trace, areas=areas)
    # only a command that partitions imports the library
    from portpart.inputs import read_netlist
    from portpart.io import read_edits
    from portpart.sessions import Session

    if objective not in (None, *OBJECTIVES_OF[model]):
        raise click.UsageError(f"--objective {objective} is not one of --model {model}, which has "
                               f"{', '.join(OBJECTIVES_OF[model])}")
    edits = read_edits(trace, read_netlist(netlist, top=top), model=model, areas=areas)
    settings["objective"] = objective or OBJECTIVES_OF[model][0]
    graph = edits.graph()
    with libraries_on_stderr():
        session = Session(graph, k, migration=migration, **settings)
    show = print_json if as_json else _print_row
    if not as_json:
        print_text(f"{Path(netlist).name}: {repr(graph)[1:-1]}\n{Path(trace).name}: "
                   f"{repr(edits)[1:-1]}\n{session.objective} before: "
                   f"{grouped(getattr(session, session.objective))}")
        print_text(" ".join(f"{name:>{max(9, len(name))}}" for name in COLUMNS))
    feasible, ratios = True, []
    for record in replayed(edits, session, rounds, settings, effort, compare):
        show(record)
        feasible &= record["feasible"]
        if record.get("from_scratch"):
            ratios.append(record["value"] / record["from_scratch"])
    if ratios and not as_json:
        print_text(f"relative to new partitions: {sum(ratios) / len(ratios):.4f} in the mean, "
                   f"{max(ratios):.4f} at most")
    return OK if feasible else INFEASIBLE


def replayed(edits: NetlistEdits, session: Session, rounds: int | str, settings: dict[str, Any],
             effort: str = "auto", compare: int | None = None) -> Iterator[dict[str, Any]]:
    """Play the rounds of a trace and yield the report of each.

    Parameters
    ----------
    edits : NetlistEdits
    session : Session
        The session of ``edits.graph()``.
    rounds : int or "natural"
    settings : dict
        Keywords of `partition`, including ``objective``, as in the session.
    effort : str
    compare : int, optional
        Make a new partition after every this many rounds, and after the last one.
    """
    from portpart.api import partition

    divided = edits.rounds(rounds)
    for number, lines in enumerate(divided, 1):
        batch = session.batch()
        edits.play(lines, batch)
        with libraries_on_stderr():
            update = session.apply(batch, effort=effort)
        objective = settings["objective"]
        record = {
            "round": number, "objective": objective, "value": update.value,
            "imbalance": update.imbalance, "feasible": update.feasible, "moved": update.moved,
            "migration": update.migration, "seconds": update.seconds,
        }  # fmt: skip
        if compare and (number % compare == 0 or number == len(divided)):
            with libraries_on_stderr():
                result = partition(session.graph(), session.k, **settings)
            record["from_scratch"] = getattr(result, objective)
        yield record


def _print_row(record: dict[str, Any]) -> None:
    cells = [record["round"], grouped(record["value"]), f"{record['imbalance']:.4f}",
             grouped(record["moved"]), grouped(record["migration"]),
             f"{1e3 * record['seconds']:.2f}"]
    if "from_scratch" in record:
        cells.append(grouped(record["from_scratch"]))
    note = "" if record["feasible"] else "  NOT BALANCED"
    print_text(" ".join(f"{cell:>{max(9, len(name))}}" for cell, name in zip(cells, COLUMNS))
               + note)
