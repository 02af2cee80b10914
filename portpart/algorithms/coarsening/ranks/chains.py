"""Chains of proposals over several ranks: which vertices move, as `grant_odd_depth` decides on one
device.

A rank follows the proposals of its vertices as far as they lead to own ones.  Where a chain leaves
the rank, at an *exit*, the owner of the next vertex is asked.  It follows on and answers how far it
has come: to the end, or to another exit.  What is known of that one takes the chain further still,
so chains grow like powers of two.
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
    """Own vertices whose chains leave the rank; sizes are the most that there may be.

    Attributes
    ----------
    vertices : array of int32
    exits : array of int32
        The own vertex from which the chain leaves.
    depths : array of int8
        Proposals that have been followed to there.
    """

    vertices: Array = kl.work(np.int32, int)
    exits: Array = kl.work(np.int32, int)
    depths: Array = kl.work(np.int8, int)

    length: int = kl.word()


class Chains(kl.Record):
    """Chains that other ranks are asked about, or where they have come, as owners answer.

    Attributes
    ----------
    last : array of int32 or int64
        The global id of the vertex that has been reached.
    next : array of int32 or int64
        The name of the vertex that it proposes.
    reached : array of int32
        Proposals that have been followed, and above `STATE` bits how far the chain is known.
    """

    last: Array
    next: Array
    reached: Array


@kl.kernel
def follow_wish(i, listed: VertexList, graph: Csr, rounds: ClusterRounds, waiting: Waiting):
    """Mark v if it moves; list it if its chain leaves the rank.  Atomic, in any order."""
    v = listed.active[i]
    chain = walked(v, 0, graph, rounds)
    reached = chain & REACHED_MASK
    if reached >> STATE == LEAVES:
        place = kl.atomic_next(waiting, Waiting.length)
        waiting.vertices[place] = kl.int32(v)
        waiting.exits[place] = kl.int32(chain >> AT)
        waiting.depths[place] = kl.int8(reached)
    else:
        rounds.moves[v] = moves_by(reached, graph.global_ids, chain >> AT, rounds.seed)


@kl.kernel
def mark_exit(i, waiting: Waiting, are_exits):
    """are_exits[i] = whether the chain of a vertex leaves the rank at once."""
    are_exits[i] = kl.int8(waiting.vertices[i] == waiting.exits[i])


@kl.kernel
def mark_open(i, chains: Chains, are_open):
    """are_open[i] = whether a chain goes on on another rank."""
    are_open[i] = kl.int8(chains.reached[i] >> STATE == LEAVES)


@kl.kernel
def begin_chain(i, ids, waiting: Waiting, identities: Identities, rounds: ClusterRounds,
                chains: Chains, slots):
    """Chain i is that of a vertex that waits, from the exit on; to that of an exit a slot leads."""
    w = ids[i]
    last = waiting.exits[w]
    chains.last[i] = identities.global_ids[last]
    chains.next[i] = identities.names[rounds.proposal[last]]
    chains.reached[i] = kl.int32(waiting.depths[w])
    if waiting.vertices[w] == last:
        slots[last] = kl.int32(i)


@kl.kernel
def follow_on(i, asked, answers: Chains, graph: Csr, names, rounds: ClusterRounds, chains: Chains,
              slots):
    """Follow a chain that comes from another rank, and is answered in place.

    Two vertices that propose each other end it: the root is the one, or the other.
    """
    v = asked[i]
    depth = kl.int64(answers.reached[i])
    state = kl.int64(ENDS)
    last = kl.int64(answers.last[i])
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
    answers.reached[i] = kl.int32((state << STATE) | depth)
    answers.last[i] = last
    answers.next[i] = following


@kl.kernel
def extend_chain(i, ids, answers: Chains, chains: Chains):
    """Go on to where the owner of the next vertex has come."""
    place = ids[i]
    chains.last[place] = answers.last[i]
    chains.next[place] = answers.next[i]
    chains.reached[place] = answers.reached[i]


@kl.kernel
def end_chain(i, waiting: Waiting, rounds: ClusterRounds, chains: Chains, slots, longer):
    """Mark v if it moves; longer[i] = whether its chain has to be followed by itself.

    That of the exit then goes on behind the last proposal that counts.
    """
    v = waiting.vertices[i]
    known = slots[waiting.exits[i]]
    reached = kl.int64(chains.reached[known])
    depth = kl.int64(waiting.depths[i])
    is_longer = depth > 0 and (
        reached >> STATE == IS_LONG or depth + (reached & DEPTH_MASK) >= MAX_DEPTH)
    longer[i] = kl.int8(is_longer)
    if not is_longer:
        rounds.moves[v] = moves_by(reached + depth, chains.last, known, rounds.seed)


@kl.kernel
def end_long_chain(i, ids, waiting: Waiting, rounds: ClusterRounds, chains: Chains):
    """Mark a vertex whose chain has been followed by itself, if it moves."""
    rounds.moves[waiting.vertices[ids[i]]] = moves_by(chains.reached[i], chains.last, i,
                                                      rounds.seed)
