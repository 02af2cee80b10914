"""A netlist of any size, drawn on the device, into few and many blocks.

    python -m bench.hypergraphs_large                       # 139 million gates, 5 * 10^8 pins
    python -m bench.hypergraphs_large --netlist 100000 --device cpu --k 2,64,1024

Prints one line per partition: seconds in all and by phase, km1, which is counted anew, balance,
memory beside the estimate.  The first call for a number of blocks also compiles what is not there,
and is followed by a second one, which is the one to look at.
"""

from __future__ import annotations

import json
import math
import time
from typing import Any

import click
import numpy as np

import portpart
from bench.device_runs import graph_bytes, peak_memory
from bench.spaces import space_of
from portpart.backends.language import Words, device, float64, int32, int64, kernel
from portpart.backends.programs.interface import Array, ExecutionSpace
from portpart.generators.netlist import CODE_BITS, MIN_WIDE, WIDE_NETS
from portpart.graphs.csr import Runs, unpacked
from portpart.graphs.hypergraph import Hypergraph
from portpart.primitives.hashing import hash_of, is_drawn
from portpart.primitives.scan import offsets_from_counts

MAX_TURNS = 64
"""Coins that are thrown for a number, at most."""

SINKS, LEVELS, LEAVES, WIDE = 1, 2, 3, 4
"""What is drawn."""


class Netlist(Words):
    """Numbers of gates, of wide nets and of levels of the tree; the seed."""

    gates: int
    wide: int
    depth: int
    seed: int


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--netlist", default=139_000_000, show_default=True, help="Gates, and nets.")
@click.option("--k", "ks", default="2,64", show_default=True, help="Numbers of blocks.")
@click.option("--presets", default="fast,default", show_default=True)
@click.option("--algorithm", default="portpart", show_default=True)
@click.option("--calls", default=2, show_default=True, help="Calls of each kind.")
@click.option("--device", default="cuda", show_default=True)
def main(netlist: int, ks: str, presets: str, algorithm: str, calls: int, device: str) -> None:
    space = space_of(device)
    begin = time.perf_counter()
    hypergraph = drawn_netlist(space, netlist)
    space.synchronize()
    print(f"{hypergraph}, drawn in {time.perf_counter() - begin:.1f} s", flush=True)
    for k in map(int, ks.split(",")):
        for preset in presets.split(","):
            for _ in range(calls):
                print(json.dumps(measured(hypergraph, k, algorithm, preset)), flush=True)


def measured(hypergraph: Hypergraph, k: int, algorithm: str, preset: str) -> dict[str, Any]:
    """Partition once, and judge the result."""
    with peak_memory(hypergraph.space) as peak:
        begin = time.perf_counter()
        result = portpart.partition(hypergraph, k, algorithm=algorithm, preset=preset, seed=1)
        hypergraph.space.synchronize()
        seconds = time.perf_counter() - begin
    estimate = portpart.memory_estimate(
        hypergraph.num_vertices, None, k, num_nets=hypergraph.num_nets,
        num_pins=hypergraph.num_pins, algorithm=algorithm, preset=preset)
    assert counted_km1(hypergraph, result.part, k) == result.km1
    own = graph_bytes(hypergraph)
    return {
        "k": k, "algorithm": algorithm, "preset": preset, "seconds": round(seconds, 3),
        "km1": result.km1, "feasible": result.feasible, "imbalance": round(result.imbalance, 4),
        "phases": {name: round(value, 3) for name, value in result.stats["phases"].items()},
        "levels": [level["pins"] for level in result.stats["levels"]],
        "peak GiB": peak[0] and round((peak[0] + own) / 2**30, 2),
        "estimated GiB": round(estimate.peak / 2**30, 2),
        "input GiB": round(own / 2**30, 2),
    }  # fmt: skip


def counted_km1(hypergraph: Hypergraph, part: Array, k: int) -> int:
    """km1 with nets of weight one, from the sorted pairs of net and block, where the arrays are.

    `portpart.metrics` would copy them to the host, and sort there for minutes.
    """
    offsets, pins = hypergraph.net_offsets, hypergraph.net_pins
    xp = np if hypergraph.space.kind == "cpu" else hypergraph.space.cupy
    keys = xp.searchsorted(offsets, xp.arange(len(pins)), side="right") - 1
    keys *= k
    keys += part[pins]
    keys.sort()
    return Runs(hypergraph.space, keys).count - int((offsets[1:] != offsets[:-1]).sum())


def drawn_netlist(space: ExecutionSpace, num_gates: int, fanout: float = 2.6, rent: float = 0.65,
                  seed: int = 6) -> Hypergraph:
    """A hypergraph like `portpart.generators.netlist` makes, drawn by hashes in a space.

    Time O(p log p), and 24 bytes a pin besides the result.
    """
    n, wide = num_gates, WIDE_NETS if num_gates >= MIN_WIDE else 0
    words = Netlist.of(gates=n, wide=wide, depth=max(1, math.ceil(math.log2(max(2, n)))), seed=seed)
    drawn = Netlist(space.asarray(np.array(words.array)))
    counts = space.empty(n, np.int32)
    space.parallel_for(n, count_pins, drawn, 1 - 1 / (fanout - wide / 2), counts)
    places = offsets_from_counts(space, counts)
    ordinary = int(space.to_host(places[n:])[0])
    taken = space.empty(wide * n, np.int8)
    space.parallel_for(wide * n, take_wide, drawn, taken)
    wide_places = offsets_from_counts(space, taken)
    length = ordinary + int(space.to_host(wide_places[wide * n:])[0])
    keys: Array = space.empty(length, np.int64)
    space.parallel_for(n, write_pins, drawn, places, 2 ** (rent - 1), keys)
    space.parallel_for(wide * n, write_wide, drawn, taken, wide_places, ordinary, keys)
    del places, taken, wide_places, counts
    return _of_keys(space, n, keys)


def _of_keys(space: ExecutionSpace, n: int, keys: Array) -> Hypergraph:
    """The hypergraph of pins, each with its net."""
    keys.sort()
    keys = Runs(space, keys).first_of(keys)
    net_offsets, pins, _ = unpacked(space, n, keys, None)
    space.parallel_for(len(keys), turn_round, keys)
    keys.sort()
    vertex_offsets, vertex_nets, _ = unpacked(space, n, keys, None)
    return Hypergraph(net_offsets, pins, None, vertex_offsets, vertex_nets, None, space)


@device
def draw(what, of, turn, drawn: Netlist):
    """A number of 63 bits."""
    return hash_of((int64(of) << 12) | (what << 8) | turn, drawn.seed) & 0x7FFFFFFFFFFFFFFF


@device
def heads_in_a_row(what, of, chance, drawn: Netlist):
    """How often a coin that shows heads with this chance does so before it shows tails."""
    count = int64(0)
    while count < MAX_TURNS and is_drawn(draw(what, of, count, drawn), chance):
        count += 1
    return count


@kernel
def count_pins(net, drawn: Netlist, more, counts):
    """Draw how many pins a net has: its driver and one sink or more; wide nets have none here."""
    count = int64(0)
    if net < drawn.gates - drawn.wide:
        count = 2 + heads_in_a_row(SINKS, net, float64(more), drawn)
    counts[net] = int32(count)


@device
def leaf_beside(driver, sink, above, drawn: Netlist):
    """A gate in a subtree with the driver: above level l with chance above**l."""
    which = int64(driver) * MAX_TURNS + (sink & (MAX_TURNS - 1))
    level = min(heads_in_a_row(LEVELS, which, float64(above), drawn), drawn.depth - 1)
    bits = int64(1) << (CODE_BITS - drawn.depth + level)
    code = (int64(driver) << CODE_BITS) // drawn.gates
    code = (code ^ bits) & -bits
    code |= draw(LEAVES, which, 0, drawn) & (bits - 1)
    leaf = (code * drawn.gates) >> CODE_BITS
    if leaf == driver:
        leaf = (leaf + 1) % drawn.gates
    return leaf


@kernel
def write_pins(net, drawn: Netlist, places, above, keys):
    """Write the pins of a net, each with the net."""
    row = int64(net) << 32
    for place in range(places[net], places[net + 1]):
        pin = int64(net)
        if place > places[net]:
            pin = leaf_beside(net, place - places[net], above, drawn)
        keys[place] = row | pin


@device
def is_driver(i, drawn: Netlist):
    """Whether gate i % n drives wide net i // n."""
    return i % drawn.gates == drawn.gates - drawn.wide + i // drawn.gates


@kernel
def take_wide(i, drawn: Netlist, taken):
    """Draw whether gate i % n is a pin of wide net i // n."""
    taken[i] = is_driver(i, drawn) or is_drawn(draw(WIDE, i, 0, drawn), 0.5)


@kernel
def write_wide(i, drawn: Netlist, taken, places, begin, keys):
    """Write the pins of wide nets."""
    if taken[i] != 0:
        net = drawn.gates - drawn.wide + i // drawn.gates
        keys[begin + places[i]] = (net << 32) | (i % drawn.gates)


@kernel
def turn_round(i, keys):
    """Swap the halves of a key."""
    keys[i] = ((keys[i] & 0xFFFFFFFF) << 32) | (keys[i] >> 32)


if __name__ == "__main__":
    main()
