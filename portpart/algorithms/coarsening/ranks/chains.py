"""Chains of proposals over several ranks: which vertices move, as `grant_odd_depth` decides on one
device.

A rank follows the proposals of its vertices as long as they lead to own ones.  If a chain leaves
the rank, at an *exit*, the rank sends it to the owner of the next vertex.  The owner follows it
further and replies how far it has come: to the end, or to another exit.  The reply includes what
the owner knows of that exit's chain, so chains grow like powers of two.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.coarsening import (
    AT,
    DEPTH_MASK,
    ENDS,
    IS_LONG,
    LEAVES,
    MAX_DEPTH,
    REACHED_MASK,
    STATE,
    ClusterRounds,
    VertexList,
    moves_by,
    walked,
)
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Csr, global_id
from portpart.graphs.ranks import Identities
from portpart.primitives import NO_VERTEX, hash_of


class Waiting(kl.Record):
    """Own vertices whose chains leave the rank; the size is their maximum number.

    Attributes
    ----------
    vertices : array of int32
    exits : array of int32
        The own vertex from which the chain leaves.
    depths : array of int8
        Number of proposals followed up to there.
    """

    vertices: Array = kl.work(np.int32, int)
    exits: Array = kl.work(np.int32, int)
    depths: Array = kl.work(np.int8, int)

    length: int = kl.word()
    num_exits: int = kl.word()  # waiting vertices that are exits
    listed_exits: int = kl.word()
    num_longer: int = kl.word()  # vertices whose chains are followed separately


class Chains(kl.Record):
    """Chains as they are sent to owners of vertices, or as owners return them.

    Attributes
    ----------
    last : array of int32 or int64
        The global id of the vertex that has been reached.
    next : array of int32 or int64
        The name of the vertex that this one proposes.
    reached : array of int32
        Number of proposals followed, and from bit `STATE` on how far the chain is known.
    """

    last: Array
    next: Array
    reached: Array


@kl.kernel
def follow_own(i, listed: VertexList, graph: Csr, rounds: ClusterRounds, waiting: Waiting):
    """Store whether v moves, or list v if its chain leaves the rank.  Atomic; in any order."""
    v = listed.active[i]
    chain = walked(v, 0, graph, rounds)
    reached = chain & REACHED_MASK
    if reached >> STATE == LEAVES:
        place = kl.atomic_next(waiting, Waiting.length)
        waiting.vertices[place] = kl.int32(v)
        waiting.exits[place] = kl.int32(chain >> AT)
        waiting.depths[place] = kl.int8(reached)
        if chain >> AT == v:
            kl.atomic_next(waiting, Waiting.num_exits)
    else:
        rounds.moves[v] = moves_by(reached, graph.global_ids, chain >> AT, rounds.seed)


@kl.kernel
def list_exit(i, waiting: Waiting, exits):
    """List the i-th waiting vertex if it is an exit.  Atomic; in any order."""
    if waiting.vertices[i] == waiting.exits[i]:
        exits[kl.atomic_next(waiting, Waiting.listed_exits)] = kl.int32(i)


@kl.kernel
def name_next(i, chains: Chains, names):
    """names[i] = the name of chain i's next vertex if it continues on another rank, else -1."""
    names[i] = chains.next[i] if chains.reached[i] >> STATE == LEAVES else kl.int64(NO_VERTEX)


@kl.kernel
def begin_chain(i, ids, waiting: Waiting, identities: Identities, rounds: ClusterRounds,
                chains: Chains, slots):
    """Begin chain i at the exit of a waiting vertex; if this is the exit, store i in its slot."""
    w = ids[i]
    last = waiting.exits[w]
    chains.last[i] = identities.global_ids[last]
    chains.next[i] = identities.names[rounds.proposal[last]]
    chains.reached[i] = kl.int32(waiting.depths[w])
    if waiting.vertices[w] == last:
        slots[last] = kl.int32(i)


@kl.kernel
def follow_on(i, replies: Chains, first, graph: Csr, names, rounds: ClusterRounds, chains: Chains,
              slots):
    """Follow a chain from another rank to one of the vertices from `first` on; the reply overwrites
    it.

    Two vertices that propose each other end the chain: a hash decides which one is the root.
    """
    v = kl.int64(replies.next[i]) - first
    depth = kl.int64(replies.reached[i])
    state = kl.int64(ENDS)
    last = kl.int64(replies.last[i])
    here = kl.int64(global_id(v, graph))
    following = kl.int64(names[v])
    proposal = kl.int64(rounds.proposal[v])
    is_mutual = False
    if proposal != NO_VERTEX:
        is_mutual = kl.int64(global_id(proposal, graph)) == last
    if not is_mutual or hash_of(last, rounds.seed) <= hash_of(here, rounds.seed):
        depth += 1
        last = here
        if depth >= MAX_DEPTH:
            state = kl.int64(IS_LONG)
        elif not is_mutual:
            chain = walked(v, depth, graph, rounds)
            at = chain >> AT
            depth = chain & DEPTH_MASK
            state = (chain & REACHED_MASK) >> STATE
            last = kl.int64(global_id(at, graph))
            if state == LEAVES:
                following = kl.int64(names[rounds.proposal[at]])
                known = slots[at]
                further = kl.int64(chains.reached[known])
                if further >> STATE != IS_LONG and depth + (further & DEPTH_MASK) < MAX_DEPTH:
                    depth += further & DEPTH_MASK
                    state = further >> STATE
                    last = kl.int64(chains.last[known])
                    following = kl.int64(chains.next[known])
    replies.reached[i] = kl.int32((state << STATE) | depth)
    replies.last[i] = last
    replies.next[i] = following


@kl.kernel
def extend_chain(i, ids, replies: Chains, chains: Chains):
    """Replace a chain by the reply of its next vertex's owner."""
    place = ids[i]
    chains.last[place] = replies.last[i]
    chains.next[place] = replies.next[i]
    chains.reached[place] = replies.reached[i]


@kl.kernel
def end_chain(i, waiting: Waiting, rounds: ClusterRounds, chains: Chains, slots, longer):
    """Store whether v moves, or list i in `longer`: the chain must be followed separately.

    It must if the chain of its exit continues behind the last proposal that counts for v.  Atomic;
    the list has any order.
    """
    v = waiting.vertices[i]
    known = slots[waiting.exits[i]]
    reached = kl.int64(chains.reached[known])
    depth = kl.int64(waiting.depths[i])
    is_longer = depth > 0 and (
        reached >> STATE == IS_LONG or depth + (reached & DEPTH_MASK) >= MAX_DEPTH)
    if is_longer:
        longer[kl.atomic_next(waiting, Waiting.num_longer)] = kl.int32(i)
    else:
        rounds.moves[v] = moves_by(reached + depth, chains.last, known, rounds.seed)


@kl.kernel
def end_long_chain(i, ids, waiting: Waiting, rounds: ClusterRounds, chains: Chains):
    """Store whether a vertex moves whose chain has been followed separately."""
    rounds.moves[waiting.vertices[ids[i]]] = moves_by(chains.reached[i], chains.last, i,
                                                      rounds.seed)
