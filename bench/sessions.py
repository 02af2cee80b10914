"""Sessions that follow edits: seconds and work of a round, and what partitions are worth.

    python -m bench.sessions speed --vertices 100000,1000000 --k 2,64 --edits 25,1000,100000
    python -m bench.sessions work --vertices 10000,100000
    python -m bench.sessions papers --vertices 1000000
    python -m bench.sessions drift --vertices 100000 --edits 25,5000
    python -m bench.sessions traces --designs tv80,ac97_ctrl --k 2,8,64
    python -m bench.sessions mesh --levels 8,10 --k 16

Every line of a table is a JSON object on standard output; `--output FILE` appends it there, too.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import click

import portpart
from bench import session_quality, session_work
from bench.random_edits import RandomEdits
from bench.session_draws import drawn_on
from bench.spaces import space_of
from portpart import generators
from portpart.algorithms.edits.editable import EditableGraph, EditableHypergraph
from portpart.generators.netlist import WIDE_NETS

WARM = 5
"""Rounds before the first one that counts: they compile."""

LOADING = 3
"""Partitions of each kind before the first that counts: they load code, in the end the threads."""

SMALL = 10_000
"""Vertices of a graph on which programs are compiled."""

Edited = EditableGraph | EditableHypergraph


@click.group(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Hold the commands."""


def numbers(_ctx: click.Context, _param: click.Parameter, text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def several(name: str, default: str, text: str) -> Callable[..., Any]:
    return click.option(name, default=default, show_default=True, help=text, callback=numbers)


kinds = click.option("--kinds", default="graph,hypergraph", show_default=True,
                     help="graph, hypergraph; wide: with nets of half of all vertices.",
                     callback=lambda _ctx, _param, text: text.split(","))
device = click.option("--device", default="cpu", show_default=True)
threads = click.option("--threads", type=int, help="Default: all cores.")
preset = click.option("--preset", default="default", show_default=True)
output = click.option("--output", type=click.Path(path_type=Path))


def tell(output: Path | None, records: Iterator[dict[str, Any]]) -> None:
    """Print records as they come, and append them to a file."""
    for record in records:
        line = json.dumps(record)
        click.echo(line)
        if output:
            with output.open("a") as file:
                file.write(line + "\n")


def made(kind: str, vertices: int, device: str) -> Any:
    """A grid, or a netlist with or without its two nets of half of all gates, on a device."""
    if kind == "graph":
        side = int(vertices**0.5)
        return generators.grid_2d(side, side).to(space_of(device))
    nets = generators.netlist(vertices)
    if kind == "hypergraph":  # to change a row takes time for the row, however wide
        offsets = nets.net_offsets[: -WIDE_NETS]
        nets = portpart.as_hypergraph((offsets, nets.net_pins[: offsets[-1]]),
                                      num_vertices=vertices)
    return nets.to(space_of(device))


def editable(graph: Any) -> Edited:
    return (EditableGraph if hasattr(graph, "num_edges") else EditableHypergraph)(graph)


@main.command()
@several("--vertices", "100000,1000000", "Sizes.")
@several("--k", "2,64", "Numbers of blocks.")
@several("--edits", "25,1000,100000", "Edits of a round.")
@kinds
@click.option("--rounds", default=30, show_default=True)
@click.option("--effort", default="auto", show_default=True)
@click.option("--draws", default="steady", show_default=True,
              help="steady: edges or pins come, and go in the next round; random: vertices, too; "
                   "eco: buffers and swaps in netlists.")
@device
@threads
@preset
@output
def speed(vertices: list[int], k: list[int], edits: list[int], kinds: list[str], rounds: int,
          effort: str, draws: str, output: Path | None, **settings: Any) -> None:
    """Time rounds of edits: applied alone, and followed by a session."""
    def records() -> Iterator[dict[str, Any]]:
        for kind in kinds:
            for size in vertices:
                graph = made(kind, size, settings["device"])
                for count in edits:
                    alone = milliseconds(applying(graph, draws, count), rounds)
                    for blocks in k:
                        facts = {"kind": kind, "vertices": graph.num_vertices, "k": blocks,
                                 "edits": count, **settings, "effort": effort,
                                 "draws": draws, "apply": alone}
                        yield timed_session(graph, blocks, count, rounds, effort, facts)
    tell(output, records())


def timed_session(graph: Any, k: int, count: int, rounds: int, effort: str,
                  facts: dict[str, Any]) -> dict[str, Any]:
    """Times of rounds of a session, what they did, and the time of a partition from scratch."""
    settings = {name: facts[name] for name in ("device", "threads", "preset")}
    session = portpart.Session(graph, k, **settings)
    updates: list[Any] = []
    draw = drawn_on(graph, facts["draws"])

    def play() -> Callable[[], Any]:
        batch = session.batch()
        draw.play(batch, count)
        return lambda: updates.append(session.apply(batch, effort=effort))

    times = milliseconds(play, rounds)
    begin = time.perf_counter()
    portpart.partition(session.graph(), k, **settings)
    return {**facts, "round": times, "full": 1e3 * (time.perf_counter() - begin),
            "efforts": {name: sum(update.effort == name for update in updates)
                        for name in dict.fromkeys(update.effort for update in updates)},
            "moved": median(update.moved for update in updates),
            "feasible": all(update.feasible for update in updates)}


def applying(graph: Any, draws: str, count: int) -> Callable[[], Callable[[], Any]]:
    """Rounds of edits that nobody follows."""
    edited = editable(graph)
    draw = drawn_on(graph, draws)

    def play() -> Callable[[], Any]:
        batch: Any = edited.batch()
        draw.play(batch, count)

        def apply() -> None:
            edited.apply(batch)
            edited.space.synchronize()
        return apply
    return play


def milliseconds(play: Callable[[], Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Median, best and worst time of what `play` has prepared."""
    seconds = []
    for _ in range(WARM + rounds):
        act = play()
        begin = time.perf_counter()
        act()
        seconds.append(time.perf_counter() - begin)
    seconds = sorted(seconds[WARM:])
    return {"median": 1e3 * median(seconds), "best": 1e3 * seconds[0], "worst": 1e3 * seconds[-1]}


@main.command()
@several("--vertices", "10000,100000", "Sizes.")
@several("--k", "2,64", "Numbers of blocks.")
@several("--edits", "25,1000", "Edits of a round.")
@kinds
@click.option("--rounds", default=20, show_default=True)
@output
def work(vertices: list[int], k: list[int], edits: list[int], kinds: list[str], rounds: int,
         output: Path | None) -> None:
    """Count what a round takes on one CPU core: launches, items, new bytes, copies and reads."""
    tell(output, (session_work.counted(made(kind, size, "cpu"), blocks, count, rounds)
                  for kind in kinds for size in vertices for blocks in k for count in edits))


@main.command()
@several("--vertices", "1000000", "Sizes.")
@several("--k", "2", "Numbers of blocks.")
@kinds
@click.option("--edits", default=25, show_default=True)
@click.option("--rounds", default=100, show_default=True)
@click.option("--every", default=10, show_default=True, help="Full partitions are timed so often.")
@click.option("--algorithm", default="papers", show_default=True,
              help="papers: igkway beside gkway, ihyperg beside hyperg; or portpart for both.")
@device
@threads
@output
def papers(vertices: list[int], k: list[int], kinds: list[str], edits: int, rounds: int,
           every: int, algorithm: str, output: Path | None, **settings: Any) -> None:
    """Compare the sum of a first partition and all rounds with a full partition each round."""
    def records() -> Iterator[dict[str, Any]]:
        for kind in kinds:
            names = ("igkway", "gkway") if kind == "graph" else ("ihyperg", "hyperg")
            if algorithm != "papers":
                names = algorithm, algorithm
            for size in vertices:
                graph, small = (made(kind, n, settings["device"]) for n in (size, SMALL))
                for blocks in k:
                    found = paper_sum(graph, small, blocks, names, settings, (edits, rounds, every))
                    yield {"kind": kind, "vertices": graph.num_vertices, "k": blocks,
                           "edits": edits, "rounds": rounds, **settings, **found}
    tell(output, records())


def paper_sum(graph: Any, small: Any, k: int, names: tuple[str, str], settings: dict[str, Any],
              sizes: tuple[int, int, int]) -> dict[str, Any]:
    """Seconds of both ways, and the values that they end with."""
    edits, rounds, every = sizes
    own, full = ({**settings, "algorithm": name} for name in names)
    for _ in range(LOADING):
        for each in (full, own):
            portpart.partition(graph, k, **each)
    warm_up(small, k, edits, own)
    begin = time.perf_counter()
    session = portpart.Session(graph, k, **own)
    first, seconds, apart, values = time.perf_counter() - begin, [], [], []
    draw = RandomEdits(graph, 1, "near", keep_size=False)
    balanced = True
    for number in range(rounds):
        batch = session.batch()
        draw.play(batch, edits)
        begin = time.perf_counter()
        update = session.apply(batch)
        seconds.append(time.perf_counter() - begin)
        balanced &= update.feasible
        if number % every == every - 1:
            now = session.graph()
            begin = time.perf_counter()
            scratch = portpart.partition(now, k, **full)
            apart.append(time.perf_counter() - begin)
            objective = "cut" if scratch.km1 is None else "km1"
            values.append(getattr(update, objective) / max(1, getattr(scratch, objective)))
    alone = timed(lambda: portpart.partition(graph, k, **own))
    full_seconds, own_seconds = rounds * median(apart), sum(seconds)
    slowest = sorted(range(rounds), key=lambda number: -seconds[number])[:3]
    return {"first_seconds": first, "first_partition": alone, "rounds_seconds": own_seconds,
            "median_round": median(seconds),
            "slowest_rounds": {number: seconds[number] for number in slowest},
            "full_seconds": full_seconds, "one_full": median(apart), "feasible": balanced,
            "sum_ratio": full_seconds / (first + own_seconds),
            "round_ratio": median(apart) / (own_seconds / rounds),
            "value_ratio": sum(values) / len(values)}


def timed(act: Callable[[], Any]) -> float:
    """Seconds that a call takes."""
    begin = time.perf_counter()
    act()
    return time.perf_counter() - begin


def warm_up(graph: Any, k: int, edits: int, settings: dict[str, Any]) -> None:
    """Have the programs of rounds compiled, those for many edits, too."""
    session = portpart.Session(graph, k, **settings)
    draw = RandomEdits(graph, 1, "near", keep_size=False)
    for count in [edits] * WARM + [SMALL // 50]:
        batch = session.batch()
        draw.play(batch, count)
        session.apply(batch)


@main.command()
@several("--vertices", "100000", "Sizes.")
@several("--k", "2,32", "Numbers of blocks.")
@several("--edits", "25,500,5000", "Edits of a round.")
@kinds
@click.option("--ends", default="uniform", show_default=True, help="uniform or near.")
@click.option("--rounds", default=100, show_default=True)
@click.option("--algorithm", default="portpart", show_default=True)
@click.option("--beside", help="Algorithm of partitions from scratch; default: the same.")
@click.option("--efforts", default="auto", show_default=True,
              help="A session for each of them, on the same edits; none only places new vertices.",
              callback=lambda _ctx, _param, text: text.split(","))
@click.option("--escalate", default="auto", show_default=True, help="auto or never.")
@device
@threads
@preset
@output
def drift(vertices: list[int], k: list[int], edits: list[int], kinds: list[str], ends: str,
          rounds: int, beside: str | None, efforts: list[str], escalate: str,
          output: Path | None, **settings: Any) -> None:
    """Follow random edits, beside partitions from scratch every tenth round."""
    tell(output, (session_quality.drifted(
        made(kind, size, settings["device"]), blocks, count,
        {"ends": ends, "rounds": rounds, "effort": effort, "escalate": escalate}, settings, beside)
        for kind in kinds for size in vertices for blocks in k for count in edits
        for effort in efforts))


@main.command()
@click.option("--designs", default="c7552,tv80,ac97_ctrl", show_default=True)
@several("--k", "2,8,64", "Numbers of blocks.")
@click.option("--model", default="hypergraph", show_default=True, help="hypergraph or star.")
@click.option("--rounds", default=100, show_default=True)
@several("--seeds", "0,1,2", "Of sessions, and of partitions from scratch.")
@click.option("--sessions", default=1, show_default=True, help="Sessions, of the first seeds.")
@click.option("--algorithm", default="portpart", show_default=True)
@click.option("--effort", default="auto", show_default=True)
@device
@threads
@preset
@output
def traces(designs: str, k: list[int], output: Path | None, **options: Any) -> None:
    """Replay edit traces of TAU 2015, beside partitions from scratch every tenth round."""
    tell(output, (record for design in designs.split(",") for blocks in k
                  for record in session_quality.replays(design, blocks, **options)))


@main.command()
@several("--levels", "8,10", "Of the finest cells.")
@several("--k", "16,64", "Numbers of blocks.")
@click.option("--steps", default=60, show_default=True)
@click.option("--prices", default="0.03,0.05,0.1", show_default=True)
@click.option("--limit", default="10%", show_default=True, help="Most that may move in a step.")
@device
@threads
@preset
@output
def mesh(levels: list[int], k: list[int], steps: int, prices: str, limit: str,
         output: Path | None, **settings: Any) -> None:
    """Repartition an adaptive mesh in each step, beside new partitions that are renumbered."""
    tell(output, (record for level in levels for blocks in k
                  for record in session_quality.meshes(level, blocks, steps, prices.split(","),
                                                       limit, settings)))


if __name__ == "__main__":
    main()
