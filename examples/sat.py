"""Clauses of a formula to solvers, so that these share few variables.

    python examples/sat.py [--variables 1200] [-k 4] [--folder FOLDER]

A DIMACS CNF file is written, of groups of variables that are loosely joined, and read.  Vertices
are the clauses, each weighing as much as it has literals; nets are the variables: one in clauses of
several blocks is shared, and km1 counts the copies of it that have to agree.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import portpart

OUTPUT = Path(__file__).resolve().parents[1] / "demo-output"
GROUPS = 12
CLAUSES_PER_VARIABLE = 4


def main() -> None:
    """Write and read a formula, divide its clauses, and count what the blocks share."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variables", type=int, default=1200)
    parser.add_argument("-k", type=int, default=4, help="solvers")
    parser.add_argument("--folder", type=Path, default=OUTPUT)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    file = options.folder / "formula.cnf"
    file.write_text(formula(options.variables, random.Random(0)))

    clauses = read_cnf(file)
    in_clauses: dict[int, list[int]] = {}
    for number, clause in enumerate(clauses):
        for variable in {abs(literal) for literal in clause}:
            in_clauses.setdefault(variable, []).append(number)
    nets = portpart.as_hypergraph(list(in_clauses.values()), num_vertices=len(clauses),
                                  vertex_weights=[len(clause) for clause in clauses])
    print(f"{file}: {len(clauses):,} clauses of {len(in_clauses):,} variables, "
          f"{nets.num_pins:,} occurrences")

    result = portpart.partition(nets, options.k)
    print(f"{options.k} solvers of {result.block_weights.min():,} to "
          f"{result.block_weights.max():,} literals")
    report("as divided", in_clauses, result.part.tolist())
    report("in the order of the file", in_clauses,
           [number * options.k // len(clauses) for number in range(len(clauses))])
    shared, copies = count_shared(in_clauses, result.part.tolist())
    if (shared, copies) != (result.cut, result.km1):
        raise SystemExit("cut and km1 do not count variables: a defect, please report it")


def formula(variables: int, chance: random.Random) -> str:
    """Clauses of three literals, one in twenty across groups, in no order."""
    size = variables // GROUPS
    lines = []
    for _ in range(CLAUSES_PER_VARIABLE * variables):
        first = size * chance.randrange(GROUPS)
        pool = range(variables) if chance.random() < 0.05 else range(first, first + size)
        chosen = chance.sample(pool, 3)
        lines.append(" ".join(str((v + 1) * chance.choice((-1, 1))) for v in chosen) + " 0")
    return "\n".join([f"p cnf {variables} {len(lines)}", *lines, ""])


def read_cnf(file: Path) -> list[list[int]]:
    """Clauses of a DIMACS file, each up to its 0."""
    words = [word for line in file.read_text().splitlines() if line[:1] not in ("c", "p")
             for word in line.split()]
    clauses: list[list[int]] = [[]]
    for literal in map(int, words):
        if literal:
            clauses[-1].append(literal)
        else:
            clauses.append([])
    return clauses[:-1]


def report(name: str, in_clauses: dict[int, list[int]], part: list[int]) -> None:
    """Print what the blocks of a partition share."""
    shared, copies = count_shared(in_clauses, part)
    print(f"{name}: {shared:,} shared variables, {copies:,} copies")


def count_shared(in_clauses: dict[int, list[int]], part: list[int]) -> tuple[int, int]:
    """Variables that several blocks have, and how many blocks have them beyond the first."""
    blocks = [len({part[clause] for clause in clauses}) for clauses in in_clauses.values()]
    return sum(count > 1 for count in blocks), sum(count - 1 for count in blocks)


if __name__ == "__main__":
    main()
