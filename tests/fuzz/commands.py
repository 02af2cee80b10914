"""Command lines: exit codes are the documented ones, JSON is valid, errors are told in words."""

from __future__ import annotations

import contextlib
import io
import json
import os
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import portpart
from portpart.cli import main
from tests.fuzz import mutations, samples, tape
from tests.fuzz.judge import edges_of, require

CODES = {0, 1, 2, 3}
ODD = ["", "-", "x", "0", "-1", "1", "2", "nan", "inf", "1e99999999", "2147483648", "10" * 20, "3%",
       "a,b", "1,2", "\0", "@", "@x", "1:2", "/", "é", "part", "numbers", "g.mtx", "hosts",
       "9" * 5000]
READING = ("--symmetrize=max --symmetrize --weights --weight-scale --no-relabel --columns --header "
           "--format --top --model --max-fanout --mesh --common-nodes --max-vertices")
COMMANDS = {
    "info": f"{READING} --json",
    "evaluate": f"{READING} -k --imbalance --target --json --names --edges",
    "convert": f"{READING} --to",
    "partition": f"{READING} -k --imbalance --target --fixed --initial --json --min-block-weight "
                 "--preset --seed --time-limit --rounds -q --device --threads --output --names",
    "partition-edges": f"{READING} -k --imbalance --target --fixed --initial --json --ends "
                       "--min-block-weight --preset --seed --time-limit --rounds --output",
    "map": f"{READING} -H -D --matrix --hosts --nodelist --node-levels --imbalance --json "
           "--rankfile --algorithm",
    "algorithms": "--json",
    "nonsense": "",
}
FLAGS = {"--symmetrize=max", "--symmetrize", "--json", "--names", "-q", "--no-relabel",
         "--header", "--edges", "--ends"}
USUAL = {"-k": "6", "-H": "2", "-D": "1", "--hosts": "hosts", "--fixed": "part",
         "--initial": "part", "--target": "1,1", "--matrix": "matrix",
         "--rankfile": "ranks", "--output": "out", "--nodelist": "n[1-2]", "--json": "",
         "--edges": "", "--preset": "best", "--rounds": "2"}
NEEDED = {"-k", "-H", "-D"}
HUGE = "2147483648", "10" * 20
"""Numbers of rounds that are work which was asked for."""


def make(random: Random) -> bytes:
    return tape.tape(random)


def check(data: bytes, folder: Path) -> None:
    """Run a command as the tape says, in `folder` with a damaged graph in it."""
    decisions = tape.Tape(data)
    arguments = _arguments(decisions)
    _prepare(Random(data), folder)
    code, out, err = _run(arguments, folder)
    require(code in CODES, f"exit code {code} of {arguments}: {err[-300:]}")
    require("Traceback" not in err, err[-300:])
    if code in (0, 1) and "--json" in arguments and "--help" not in arguments:
        json.loads(out, parse_constant=_no_constant)
    require(code < 2 or err, "an error without a word")
    if code in (0, 1) and arguments[0] == "partition-edges" and "--json" in arguments:
        _check_edges(json.loads(out), folder)


def _check_edges(said: dict[str, Any], folder: Path) -> None:
    """The replication factor and weights of blocks, of the edges in the file that was written."""
    if said.get("output") != "out" or b" " in (data := (folder / "out").read_bytes()):
        return
    part, graph = np.array(data.split(), int), None
    with contextlib.suppress(ValueError, OSError):
        graph = portpart.io.read(folder / said["graph"])
    if graph is None or graph.num_edges != len(part):  # read with other options
        return
    ends, loads = edges_of(graph)
    copies = {(v, block) for pair, block in zip(ends.tolist(), part.tolist()) for v in pair}
    require(said["replication_factor"] == len(copies) / max(1, len({v for v, _ in copies})),
            "replication factor")
    require(sum(said["block_weights"]) == loads.sum(), "block weights")


def _arguments(decisions: tape.Tape) -> list[str]:
    command = decisions.pick(["partition", "partition-edges", "map", "info", "evaluate", "convert",
                              *COMMANDS])
    arguments = [command]
    if command != "algorithms":
        arguments.append(_word(decisions, decisions.pick(["g.graph", "g.mtx", "g.txt"])))
    if command in ("evaluate", "convert"):
        arguments.append(_word(decisions, decisions.pick(["part", "edges"])
                               if command == "evaluate" else "out.mtx"))
    of_edges = command == "partition-edges"
    usual = USUAL | ({"-k": "2", "--fixed": "edges", "--initial": "edges"} if of_edges else {})
    for option in COMMANDS[command].split():
        if decisions.chance(8 if option in USUAL else 40) or (
                option in NEEDED and not decisions.chance(8)):
            arguments += [option] if option in FLAGS else [
                option, _word(decisions, usual.get(option, "1"))]
    if "--rounds" in arguments and not set(arguments).isdisjoint(HUGE):
        del arguments[arguments.index("--rounds") :]
    return arguments


def _word(decisions: tape.Tape, usual: str) -> str:
    return decisions.pick(ODD) if decisions.chance(5) else usual


def _prepare(random: Random, folder: Path) -> None:
    """The files that arguments name, some of them damaged."""
    made: dict[str, list[bytes]] = {
        "g.graph": samples.metis(), "g.mtx": samples.matrix_market(), "g.txt": samples.edge_list(),
        "part": samples.partitions(), "edges": samples.edge_partitions(),
        "hosts": samples.hostfiles(), "numbers": samples.numbers(), "matrix": samples.matrices()}
    for name, seeds in made.items():
        data = seeds[2 % len(seeds)]  # graphs of six vertices, as the partitions have
        if random.random() < 0.3:
            data = random.choice(seeds)
        if random.random() < 0.3:
            data = mutations.mutated(random, seeds, mutations.OF_TEXT)
        (folder / name).write_bytes(data)


def _run(arguments: list[str], folder: Path) -> tuple[int, str, str]:
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", errors="replace") for _ in range(2))
    before = Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(arguments)
    finally:
        os.chdir(before)
    texts = [stream.buffer.getvalue().decode("utf-8", "replace")  # type: ignore[attr-defined]
             for stream in (out, err) if not stream.flush()]
    return code, *texts


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
