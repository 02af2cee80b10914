"""Trial edits of a circuit on several chips: each is kept or undone by what it does to the wires.

    python examples/eco_loop.py [--bits 24] [-k 4] [--trials 300] [--folder FOLDER]

A gate that drives many others is slow.  A buffer may drive half of them in its place; it is kept if
it needs no more wires between chips.  The session places it and moves what is around, and undoes
both if not.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from circuit import multiplier

import portpart

plt.switch_backend("Agg")

OUTPUT = Path(__file__).resolve().parents[1] / "demo-output"
LONG = 6
"""Nets of so many pins are to be divided."""


class Design:
    """A circuit by names, and the session that follows it."""

    def __init__(self, bits: int, k: int) -> None:
        gates = multiplier(bits)
        self.names = list(gates)
        number = {name: place for place, name in enumerate(self.names)}
        self.nets: dict[str, set[int]] = {}
        for name, (_, pins) in gates.items():
            for net in pins.values():
                if net != "1'b0":
                    self.nets.setdefault(net, set()).add(number[name])
        self.net_ids = {net: place for place, net in enumerate(self.nets)}
        offsets = np.cumsum([0, *map(len, self.nets.values())])
        pins = np.array([pin for row in self.nets.values() for pin in sorted(row)])
        self.session = portpart.Session(
            portpart.as_hypergraph((offsets, pins), num_vertices=len(self.names)), k)

    def buffered(self, net: str, fresh: str, moved: set[int]) -> tuple[int, bool]:
        """Let a new gate drive these gates of a net; wires then, and whether that is kept."""
        session = self.session
        wires, mark = session.km1, session.mark()
        batch = session.batch()
        (buffer,) = batch.insert_vertices()
        (new,) = batch.insert_nets([0, 1 + len(moved)], [buffer, *sorted(moved)])
        batch.delete_pins(self.net_ids[net], sorted(moved))
        batch.insert_pins(self.net_ids[net], buffer)
        update = session.apply(batch)
        # ids are given out once: those of undone trials stay unused
        self.names += [""] * (buffer + 1 - len(self.names))
        if update.km1 > wires or not update.feasible:
            tried = update.km1
            session.undo(mark)
            return tried, False
        self.names[buffer] = f"buffer_of_{fresh}"
        self.nets[fresh], self.net_ids[fresh] = {buffer, *moved}, new
        self.nets[net] = self.nets[net] - moved | {buffer}
        return update.km1, True

    def wires(self) -> int:
        """Chips that nets reach besides one each, counted net by net."""
        part = self.session.part
        return sum(len({int(part[pin]) for pin in row}) - 1 for row in self.nets.values() if row)


def main() -> None:
    """Try buffers on the nets with most pins, and draw what becomes of the wires."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bits", type=int, default=24, help="of each factor")
    parser.add_argument("-k", type=int, default=4, help="chips")
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--folder", type=Path, default=OUTPUT)
    options = parser.parse_args()
    design, random = Design(options.bits, options.k), np.random.default_rng(1)
    print(f"{len(design.names):,} gates on {options.k} chips, {design.session.km1} wires")
    trials, begin = [], time.perf_counter()
    for trial in range(options.trials):
        long = [net for net, row in design.nets.items() if len(row) >= LONG]
        if not long:
            break
        net = long[int(random.integers(len(long)))]
        # those of one chip side by side, from anywhere on
        chips = design.session.part[sorted(design.nets[net])]
        pins = np.array(sorted(design.nets[net]))[np.argsort(chips, kind="stable")]
        pins = np.roll(pins, int(random.integers(len(pins))))
        moved = set(pins[: len(pins) // 2].tolist())
        trials.append(design.buffered(net, f"eco_{trial}", moved))
    seconds = time.perf_counter() - begin
    if design.wires() != design.session.km1:
        raise SystemExit("wires are not counted right: a defect, please report it")
    new = portpart.partition(design.session.graph(), options.k).km1
    print(f"{sum(kept for _, kept in trials)} of {len(trials)} buffers kept, most pins of a net "
          f"now {max(map(len, design.nets.values()))}, {design.session.km1} wires "
          f"({new} in a new partition)")
    print(f"{1000 * seconds / max(1, len(trials)):.1f} ms a trial")
    options.folder.mkdir(parents=True, exist_ok=True)
    blocks = options.folder / "eco_loop.part"
    ids = design.session.ids
    portpart.io.write_named_partition([design.names[gate] for gate in ids],
                                      design.session.part[ids], blocks)
    draw(trials, options.folder / "eco_loop.png")
    print(f"written: {blocks}, {options.folder / 'eco_loop.png'}")


def draw(trials: list[tuple[int, bool]], file: Path) -> None:
    """Draw wires over trials, of those that were undone as they would have been."""
    figure, axes = plt.subplots(figsize=(10, 5))
    places, wires = np.arange(len(trials)), np.array([tried for tried, _ in trials])
    good = np.array([kept for _, kept in trials], bool)
    axes.plot(places[~good], wires[~good], "x", color="C3", markersize=4, label="undone")
    axes.plot(places[good], wires[good], ".-", color="C2", label="kept")
    axes.set(title="wires between chips", xlabel="trial")
    axes.legend()
    figure.savefig(file, dpi=80, bbox_inches="tight")
    plt.close(figure)


if __name__ == "__main__":
    main()
