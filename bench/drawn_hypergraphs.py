"""Hypergraphs drawn from models of classes that are rare in the data folder.

Constraint matrices of linear programs, Jacobians of least squares, Markov chains, formulas with
groups of clauses, memories as flip-flops, words of verses.  Partitioners differ more on these than
on circuits and meshes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, product

import numpy as np

import portpart
from bench.hypergraph_instances import NetInstance
from portpart import Hypergraph

Draw = Callable[[np.random.Generator], Hypergraph]


def drawn(seed: int = 1) -> Iterator[NetInstance]:
    """One hypergraph of each model."""
    for model in MODELS:
        name = model.__name__
        yield NetInstance(f"drawn_{name}", name, "drawn", partial(_made, model, seed))


def _made(model: Draw, seed: int) -> Hypergraph:
    return model(np.random.default_rng(seed))


def _of(nets: Iterable[Iterable[int]], num_vertices: int) -> Hypergraph:
    """The hypergraph of these nets, without those of fewer than two pins."""
    rows = [sorted({*net}) for net in nets]
    rows = [row for row in rows if len(row) > 1]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    pins = np.fromiter(chain.from_iterable(rows), np.int64)
    return portpart.as_hypergraph((offsets, pins), num_vertices=num_vertices)


def _transposed(rows: Iterable[Iterable[int]], num_columns: int) -> Hypergraph:
    """Rows are vertices, and columns are nets."""
    columns: list[list[int]] = [[] for _ in range(num_columns)]
    for number, row in enumerate(rows):
        for column in {*row}:
            columns[column].append(number)
    return _of(columns, number + 1)


def bundle_adjustment(random: np.random.Generator) -> Hypergraph:
    """Observations of points by cameras on a loop: a column-net Jacobian, six unknowns for each
    camera, three for each point, and three that all observations share.
    """
    cameras, points = 260, 14_000
    angle = np.linspace(0, 2 * np.pi, cameras, endpoint=False)
    places = np.stack([10 * np.cos(angle), 6 * np.sin(2 * angle)], 1)
    rows = []
    for point in range(points):
        place = places[random.integers(cameras)] + random.normal(size=2)
        distance = np.linalg.norm(places - place, axis=1)
        near = np.argsort(distance)[:40]
        chance = np.exp(-2 * distance[near])
        seen = random.choice(near, min(14, 2 + random.geometric(0.35)), replace=False,
                             p=chance / chance.sum())
        first = 6 * cameras + 3 * point
        shared = range(6 * cameras + 3 * points, 6 * cameras + 3 * points + 3)
        rows += [[*range(6 * c, 6 * c + 6), *range(first, first + 3), *shared] for c in seen]
    return _transposed(rows, 6 * cameras + 3 * points + 3)


def multicommodity_flow(random: np.random.Generator) -> Hypergraph:
    """Flows of 70 commodities in a network: conservation at each node for each commodity, and the
    capacity of each arc, which all commodities share.
    """
    nodes, commodities = 150, 70
    places = random.random((nodes, 2))
    near = np.argsort(np.linalg.norm(places[:, None] - places, axis=2), axis=1)[:, 1:4]
    arcs = [(v, int(u)) for v in range(nodes) for u in near[v]]
    arcs += [(u, v) for v, u in arcs]
    flow = np.arange(commodities * len(arcs)).reshape(commodities, len(arcs))
    at_node = [[a for a, ends in enumerate(arcs) if v in ends] for v in range(nodes)]
    kept = [flow[c, there].tolist() for c, there in product(range(commodities), at_node)]
    return _of(kept + flow.T.tolist(), flow.size)


def staircase(random: np.random.Generator) -> Hypergraph:
    """Production in 52 periods: stocks join periods, machines products, demand plants."""
    periods, products, plants, machines = 52, 60, 8, 10
    per_period = 2 * products * plants

    def column(period: int, product_: int, plant: int, is_stock: bool) -> int:
        return period * per_period + 2 * (product_ * plants + plant) + is_stock

    parts = [random.choice(products, random.integers(0, 4), replace=False) for _ in range(products)]
    machine_of = random.integers(machines, size=(products, plants))
    nets: list[list[int]] = []
    for period in range(periods):
        for item, plant in product(range(products), range(plants)):
            before = [column(period - 1, item, plant, True)] if period else []
            used = [column(period, int(other), plant, False) for other in parts[item]]
            nets.append([column(period, item, plant, True), column(period, item, plant, False),
                         *before, *used])
        nets += [[column(period, item, plant, False) for plant in range(plants)]
                 for item in range(products)]
        for plant, machine in product(range(plants), range(machines)):
            nets.append([column(period, item, plant, False)
                         for item in np.flatnonzero(machine_of[:, plant] == machine).tolist()])
    return _of(nets, periods * per_period)


def tandem_queues(random: np.random.Generator) -> Hypergraph:
    """The Markov chain of three queues in a row: a net of each state and the states it leads to."""
    shape = (25, 25, 25)
    state = np.arange(np.prod(shape)).reshape(shape)
    nets = []
    for place in np.ndindex(*shape):
        ends = [place, (place[0] + 1, *place[1:])]
        ends += [tuple(np.add(place, step)) for step in ((-1, 1, 0), (0, -1, 1), (0, 0, -1))]
        nets.append([int(state[end]) for end in ends
                     if all(0 <= each < size for each, size in zip(end, shape, strict=True))])
    return _of(nets, state.size)


def clause_groups(random: np.random.Generator) -> Hypergraph:
    """The dual of a Tseitin formula on a random 6-regular graph: the 32 clauses of a vertex have
    the same six variables.
    """
    vertices, degree = 2_000, 6
    ends = random.permutation(np.repeat(np.arange(vertices), degree)).reshape(-1, 2)
    variables: list[list[int]] = [[] for _ in range(vertices)]
    for number, (a, b) in enumerate(ends.tolist()):
        variables[a].append(number)
        variables[b].append(number)
    return _transposed((row for row in variables for _ in range(2 ** (degree - 1))), len(ends))


def crew_pairings(random: np.random.Generator) -> Hypergraph:
    """A set cover of 350 flights by 60,000 pairings of flights that follow each other."""
    flights, pairings = 350, 60_000
    nets: list[list[int]] = [[] for _ in range(flights)]
    for pairing in range(pairings):
        flight = random.integers(flights)
        for _ in range(random.integers(2, 14)):
            nets[flight].append(pairing)
            flight = (flight + random.geometric(0.15)) % flights
    return _of(nets, pairings)


def memory_as_flip_flops(random: np.random.Generator) -> Hypergraph:
    """A memory of 256 words of 32 bits as registers and multiplexers, beside logic."""
    words, bits, gates = 256, 32, 8_000
    cell = np.arange(words * bits).reshape(words, bits)
    count = cell.size + bits  # a data input for each bit
    nets = [row.tolist() for row in cell]  # a word is written together
    for bit in range(bits):
        level = cell[:, bit].tolist()
        nets.append([*level, cell.size + bit])
        while len(level) > 1:  # the tree that reads
            pairs = zip(level[::2], level[1::2], strict=True)
            level = list(range(count, count + len(level) // 2))
            nets += [[*pair, node] for pair, node in zip(pairs, level, strict=True)]
            count += len(level)
    for word in range(words):  # addresses
        nets[word].append(count + int(random.integers(gates)))
    for gate in range(gates):  # most wires are short
        far = random.geometric(0.05, size=random.integers(1, 4))
        nets.append([count + gate, *(count + (gate + far) % gates).tolist()])
    nets.append(cell.ravel().tolist())  # the clock
    return _of(nets, count + gates)


def words_of_verses(random: np.random.Generator) -> Hypergraph:
    """31,000 sets of words by Zipf's law; each verse has a topic, whose words are likelier."""
    words, verses, topics = 12_800, 31_000, 66
    rank = np.arange(1, words + 1) ** -1.0
    common = rank / rank.sum()
    own = [random.choice(words, 400, replace=False) for _ in range(topics)]
    nets = []
    for verse in range(verses):
        size = int(random.integers(6, 40))
        few = random.choice(own[verse * topics // verses], size // 4)
        nets.append([*random.choice(words, size, p=common).tolist(), *few.tolist()])
    return _of(nets, words)


MODELS: list[Draw] = [bundle_adjustment, multicommodity_flow, staircase, tandem_queues,
                      clause_groups, crew_pairings, memory_as_flip_flops, words_of_verses]
