"""Two-way flow refinement of a partition, pair by pair, as one recorded program for a level.

Sanders, Schulz (2011): a minimum cut in a corridor around the cut of two blocks replaces the cut as
a whole, also where no single move gains.  Piercing after Hamann, Strasser (2018), matchings of the
quotient graph after Krause, Gottesbueren, Maas (2025).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.objectives import Balance
from portpart.algorithms.refinement import FlowOptions
from portpart.algorithms.refinement.flows import (
    corridor,
    net_blocks,
    net_network,
    network,
    pairs,
    state,
)
from portpart.algorithms.refinement.flows.cutter import cut_pair, list_around
from portpart.algorithms.refinement.flows.network import FlowRules
from portpart.backends.language import DeviceFunction, Record, Words
from portpart.backends.programs import FEWEST, Array, ExecutionSpace, Program, bytes_of
from portpart.graphs import MAX_INT32, Csr, EitherGraph, Hypergraph, Structure

WIDEST, NARROW, SHORT = 512, 32, 8
"""Number of lanes for a pair, for a row of the quotient graph, and for a net."""

PAIR_WORK = 2**14
"""Approximate work of a pair, in light items."""


ON_GRAPHS = FlowRules(network.ARCS, pairs.add_cuts, corridor.is_beside, corridor.claim_neighbours,
                      corridor.release_neighbours, network.build_later, network.close, list_around,
                      has_nets=False)


def on_nets(net_cost: DeviceFunction) -> FlowRules:
    """Return the rules of hypergraphs, for the cost of a net that spans some blocks."""
    return FlowRules(
        net_network.ARCS, net_blocks.add_no_cuts,
        net_blocks.is_beside_by_nets.bound(net_cost=net_cost),
        net_blocks.claim_pins.bound(net_cost=net_cost), net_blocks.release_pins,
        net_network.build_of_nets.bound(net_cost=net_cost), net_network.close,
        net_blocks.list_changed_nets, has_nets=True)


class FlowRefiner:
    """Work arrays for the levels of a hierarchy, and refinement of their partitions.

    Parameters
    ----------
    space : ExecutionSpace
    largest : Graph, DistributedGraph or Hypergraph
        The largest graph that will be refined; a distributed graph as a whole.  With
        `options.on_band` these are band graphs (`band.py`).
    balance : Balance
    options : FlowOptions
    seed : int
        Decides between equally good vertices.
    net_cost : DeviceFunction, optional
        For hypergraphs: the cost of a net of weight 1 that spans some blocks.
    """

    def __init__(self, space: ExecutionSpace, largest: Structure, balance: Balance,
                 options: FlowOptions, seed: int, net_cost: DeviceFunction | None = None) -> None:
        self.space, self.balance, self.options, self.seed = space, balance, options, seed
        self.net_cost = net_cost
        self.sizes = flow_sizes(largest, balance.num_blocks, options)
        self._blocks = (state.NetBlocks.allocate(space, self.sizes)
                        if isinstance(largest, Hypergraph) else None)
        self._quotient = state.QuotientGraph.allocate(
            space, self.sizes, max_entries=options.max_entries,
            limits=space.asarray(balance.limits), means=space.asarray(balance.means))
        self._corridors = state.Corridors.allocate(
            space, self.sizes, part=None, fixed=None, rest=None, extra=float(options.alpha) - 1.0)
        self._networks = state.Networks.allocate(space, self.sizes)

    def refine(self, graph: EitherGraph, part: Array, fixed: Array | None, slack: int,
               rest: Array | None = None) -> int:
        """Refine a partition in place.  Waits for the device.

        Parameters
        ----------
        graph : Graph or Hypergraph
        part : array of int32, shape (n,)
        fixed : array of int32, shape (n,), optional
            Vertices with an entry of 0 or more stay in their block.
        slack : int
            Weight that blocks may have above their limits.
        rest : array of int64, shape (k,), optional
            Of a band graph, the number of vertices of each block that are not in it.

        Returns
        -------
        int
            Decrease of the cut, or of the cost of the nets.
        """
        n, k, options = graph.num_vertices, self.balance.num_blocks, self.options
        words = state.FlowLevel.of(vertices=n, blocks=k, block_pairs=k * k, seed=self.seed,
                                   slack=slack, share=self.sizes.share,
                                   max_corridor=self.sizes.max_corridor, max_depth=options.depth,
                                   max_degree=options.max_degree, round_limit=options.round_limit,
                                   max_matchings=options.most_matchings, running=1)
        level = state.FlowLevel(self.space.asarray(np.array(words.array)))
        records: dict[str, Record | Words] = {
            "graph": self._rows(graph), "quotient": self._quotient, "level": level,
            "corridors": self._corridors.replaced(part=part, fixed=fixed, rest=rest),
            "networks": self._networks}

        def record() -> Program:
            program = Program("flow refinement", threads=FEWEST)
            rules = ON_GRAPHS if self.net_cost is None else on_nets(self.net_cost)
            program.statics.update(memory=state.NodeMemory.of(self.sizes.counter), rules=rules,
                                   net_cost=self.net_cost)
            slots = program.declare(records)
            record_flows(program, slots["level"], slots["graph"], rules.has_nets)
            return program

        key = ("flow refinement", *graph.type_key, fixed is None, rest is None, self.sizes.counter,
               self.net_cost)
        self.space.cached_executable(key, record).run(records, max(n, k * k))
        return int(state.FlowLevel(self.space.to_host(level.array)).total_gain)


    def _rows(self, graph: EitherGraph) -> Csr:
        """Return rows of the vertices, with the data of nets for a hypergraph."""
        rows = graph.csr
        if not isinstance(graph, Hypergraph):
            return rows
        assert self._blocks is not None
        counts = state.NetCounts(
            self.space.asarray(np.array(state.NetCounts.of(nets=graph.num_nets).array)))
        return state.FlowNets(rows.begin, rows.end, rows.targets, rows.weights, rows.vertex_weights,
                              rows.global_ids, graph.nets, self._blocks, counts)


def flow_sizes(graph: Structure, num_blocks: int, options: FlowOptions) -> state.FlowSizes:
    """Return the sizes of a graph, of a distributed graph as a whole, or of a hypergraph."""
    if isinstance(graph, Hypergraph):  # residual capacities are at most twice a net's cost
        narrow = 4 * graph.total_net_weight <= MAX_INT32
        return state.FlowSizes(graph.num_vertices, graph.num_pins, num_blocks,
                               np.dtype(np.int32 if narrow else np.int64), graph.num_nets,
                               options.max_entries)
    whole = graph.whole
    return state.FlowSizes(whole.num_vertices, whole.num_entries, num_blocks,
                           whole.weight_sum_dtype, max_entries=options.max_entries,
                           of_bands=options.on_band)


def flow_bytes(sizes: state.FlowSizes) -> int:
    """Return the bytes of the work arrays."""
    return bytes_of((state.QuotientGraph, state.Corridors, state.Networks), sizes)


def record_flows(program: Program, level: Any, graph: Any, has_nets: bool) -> None:
    """Record the refinement of a level."""
    matching = program.zeros("matching", state.MatchingSizes)
    program.launch(level.blocks, pairs.begin_block)
    program.launch(level.block_pairs, pairs.begin_pair)
    program.launch(level.vertices, pairs.begin_vertex)
    if has_nets:
        program.launch(graph.counts.nets, net_blocks.count_net, team=SHORT, listed=None)
        program.launch(graph.counts.nets, net_blocks.add_net_cuts, team=SHORT)
    with program.while_loop(level.running):
        with program.side_by_side():
            program.launch(1, pairs.begin_round, team=WIDEST)
            program.launch(level.blocks, pairs.list_neighbours, team=NARROW)
        program.launch(1, pairs.match_blocks, team=WIDEST)
        with program.while_loop(matching.pairs):
            program.launch(level.boundary, corridor.find_layer_0)
            program.launch(matching.pairs, corridor.grow_corridor, team=WIDEST, work=PAIR_WORK)
            if not has_nets:
                record_networks(program, matching)
            program.launch(matching.pairs, cut_pair, team=WIDEST, work=PAIR_WORK, in_team=True)
            with program.if_nonzero(matching.large):
                program.launch(matching.pairs, cut_pair, team=WIDEST, work=PAIR_WORK, in_team=False)
            if has_nets:
                program.launch(graph.counts.changed, net_blocks.count_net, team=SHORT,
                               listed=graph.blocks.changed)
            program.launch(1, pairs.match_blocks, team=WIDEST)
        program.launch(1, pairs.end_round)
        with program.if_nonzero(level.running):
            program.launch(level.block_pairs, pairs.clear_cut)
            if has_nets:
                program.launch(graph.counts.nets, net_blocks.add_net_cuts, team=SHORT)
            else:
                program.launch(level.boundary, pairs.add_listed)


def record_networks(program: Program, matching: state.MatchingSizes) -> None:
    """Record the networks of the corridors of a matching in a graph."""
    of_parts = {"team": WIDEST, "work": PAIR_WORK // network.TEAMS}
    program.launch(matching.parts, network.count_rows, **of_parts)
    program.launch(matching.pairs, network.lay_out, **of_parts)
    program.launch(matching.parts, network.fill_rows, **of_parts)
    program.launch(matching.parts, network.link_rows, **of_parts)
