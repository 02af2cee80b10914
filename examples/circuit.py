"""Gates of a circuit to chips: a netlist in Verilog, which gate is where, and what the cut costs.

    python examples/circuit.py [--bits 24] [-k 4] [--folder FOLDER]

The netlist is an array multiplier, written here.  The partition is written by name, as tools for
layout read it.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from pathlib import Path

import portpart

OUTPUT = Path(__file__).resolve().parents[1] / "demo-output"


def main() -> None:
    """Write the netlist, read it, partition it, write gates and blocks, and count cut nets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bits", type=int, default=24, help="of each factor")
    parser.add_argument("-k", type=int, default=4, help="chips")
    parser.add_argument("--folder", type=Path, default=OUTPUT)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    netlist, blocks = options.folder / "multiplier.v", options.folder / "multiplier.part"
    gates = multiplier(options.bits)
    netlist.write_text(verilog(gates, options.bits))

    nets = portpart.io.read_hypergraph(netlist)
    result = portpart.partition(nets, options.k, objective="cut")
    portpart.io.write_named_partition(nets.names, result.part, blocks)
    print(f"{netlist}: {nets.num_vertices:,} gates, {nets.num_nets:,} nets, {nets.num_pins:,} pins")
    print(f"{blocks}: {result.cut} nets between {options.k} chips of at most "
          f"{result.block_weights.max()} gates")

    chip_of = dict(zip(nets.names, result.part.tolist()))
    for chip in range(options.k):
        rows = Counter(name.split("_")[1] for name, its in chip_of.items() if its == chip)
        common = ", ".join(f"{row} ({count})" for row, count in sorted(
            rows.items(), key=lambda pair: (-pair[1], pair[0]))[:4])
        print(f"chip {chip}: {sum(rows.values())} gates, most of rows {common}")
    if cut_nets(gates, chip_of) != result.cut:
        raise SystemExit("the cut is not the number of cut nets: a defect, please report it")
    some = f"adder_r{options.bits // 2}_c{options.bits // 2}"
    print(f"gate {some} is on chip {chip_of[some]}")


def multiplier(bits: int) -> dict[str, tuple[str, dict[str, str]]]:
    """Gates of an array multiplier by name: kind and nets by port.

    Row r adds the products of bit r of b to the sum of the rows above, shifted by one.
    """
    gates = {}
    for r in range(bits):
        for c in range(bits):
            gates[f"and_r{r}_c{c}"] = ("AND2", {"A": f"a[{c}]", "B": f"b[{r}]", "Z": f"p_{r}_{c}"})
    for r in range(1, bits):
        for c in range(bits):
            above = f"p_0_{c + 1}" if r == 1 else f"s_{r - 1}_{c + 1}"
            if c == bits - 1:
                above = "1'b0" if r == 1 else f"k_{r - 1}_{c}"
            gates[f"adder_r{r}_c{c}"] = ("FULLADD", {
                "A": f"p_{r}_{c}", "B": above, "CI": f"k_{r}_{c - 1}" if c else "1'b0",
                "S": f"s_{r}_{c}", "CO": f"k_{r}_{c}"})
    return gates


def verilog(gates: dict[str, tuple[str, dict[str, str]]], bits: int) -> str:
    """The netlist as a module."""
    lines = [f"  {kind} {name} ({', '.join(f'.{port}({net})' for port, net in pins.items())});"
             for name, (kind, pins) in gates.items()]
    head = f"module multiplier (input [{bits - 1}:0] a, input [{bits - 1}:0] b);"
    return "\n".join([head, *lines, "endmodule", ""])


def cut_nets(gates: dict[str, tuple[str, dict[str, str]]], chip_of: dict[str, int]) -> int:
    """How many nets have gates on several chips."""
    chips = defaultdict(set)
    for name, (_, pins) in gates.items():
        for net in pins.values():
            chips[net].add(chip_of[name])
    return sum(len(on) > 1 for net, on in chips.items() if net != "1'b0")


if __name__ == "__main__":
    main()
