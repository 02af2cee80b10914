"""Gains of the nets of a hypergraph, as a rule for growing and two-way refinement."""

from __future__ import annotations

from portpart.algorithms.initial import fm_gains, net_keys
from portpart.algorithms.initial.bisection_state import BisectionSizes, Candidates, Keyed
from portpart.algorithms.initial.net_moves import update_keys_of_nets
from portpart.backends import language as kl


@kl.device
def others_inside(net, i, graph: net_keys.VertexNets, candidates: Candidates,
                  sizes: BisectionSizes):
    """Return the number of other pins of a net of vertex i in the same bisection."""
    base = i // sizes.vertices * sizes.vertices
    found = kl.int64(0)
    for pin in range(graph.nets.begin[net], graph.nets.end[net]):
        w = base + graph.nets.pins[pin]
        if w != i and candidates.part[w] == candidates.part[i]:
            found += 1
    return found


@kl.device
def nets_inside(i, graph: net_keys.VertexNets, candidates: Candidates, state: Keyed):
    """Return a lane's share of the cost of i's nets if i is alone on its side."""
    v = i % state.sizes.vertices
    total = kl.int64(0)
    zero = kl.int64(0)
    for place in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        net = graph.targets[place]
        others = others_inside(net, i, graph, candidates, state.sizes)
        total += net_keys.cost_of(zero, others, net, state.keys.weight_shift, graph)
    return total


@kl.device
def pull_of_nets(i, graph: net_keys.VertexNets, candidates: Candidates, attempts: fm_gains.Attempts,
                 state: Keyed):
    """Return a lane's share of the gain of i's nets if i moves from side 0 to side 1."""
    base = i // state.sizes.vertices * state.sizes.vertices
    pull = kl.int64(0)
    for place in range(graph.begin[i - base] + kl.lane(), graph.end[i - base], kl.team_size()):
        net = graph.targets[place]
        on0 = kl.int64(0)
        on1 = kl.int64(0)
        for pin in range(graph.nets.begin[net], graph.nets.end[net]):
            w = base + graph.nets.pins[pin]
            if candidates.part[w] == candidates.part[i]:
                there = attempts.side[base + candidates.place[w]]
                if there == 1:
                    on1 += 1
                elif there == 0:
                    on0 += 1
        pull += net_keys.gain_of(on0, on1, net, state.keys.weight_shift, graph)
    return pull


@kl.device
def undo_net_moves(made, kept, again, bisection: fm_gains.Bisection, graph: net_keys.VertexNets,
                   candidates: Candidates, attempts: fm_gains.AttemptScratch):
    """Undo moves one by one, the last one first."""
    own = bisection.own
    for m in range(made - kept):
        p = kl.int64(attempts.moves[own + bisection.lower + made - 1 - m])
        here = kl.int64(attempts.side[own + p] & 1)
        if again:
            update_keys_of_nets(p, here, -1, bisection, graph, candidates, attempts)
        if kl.lane() == 0:
            attempts.key[own + p] = fm_gains.turned(attempts.key[own + p], bisection)
            attempts.side[own + p] = kl.int8(attempts.side[own + p] ^ 1)
        kl.team_sync()
    return made - kept


NETS = fm_gains.GainRule("nets", nets_inside, pull_of_nets, net_keys.begin_net_key,
                         update_keys_of_nets, undo_net_moves,
                         (net_keys.add_gains_of_small_net, net_keys.add_gains_of_large_nets),
                         shares=True)
"""For hypergraphs."""
