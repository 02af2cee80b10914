"""Ids that have been given out: which of them are alive, and what they weigh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from portpart.algorithms.edits.names import Names
from portpart.algorithms.edits.tally import DEAD_FIRST, MISSING, Tally, refuse
from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Record
from portpart.graphs.row_store import SPARE_ROWS, extended, with_spare
from portpart.primitives.select import positions_of
from portpart.primitives.sort import sort_keys

ALIVE = 2**31 - 1
"""When ids die that do not; others hold the time in the batch that is looked at, the dead -1."""


class Living:
    """Ids 0 ... count - 1, of vertices or of nets.

    Parameters
    ----------
    name : str
        What messages call them.
    space : ExecutionSpace
    count : int
    weights : array or None
        None means that each weighs 1.
    total_weight : int
        Of all that are alive.
    names : sequence, optional
        Of all.

    Attributes
    ----------
    names : Names or None
    weights : array or None
        Of all ids; the dead weigh 0 where there is an array.
    deaths : array of int32
        When each dies; as long as there is room for ids.
    num_alive : int
    weigh_one : bool
        Whether all that are alive surely weigh 1.
    """

    def __init__(self, name: str, space: ExecutionSpace, count: int, weights: Array | None,
                 total_weight: int, names: Sequence[Any] | None = None) -> None:
        self.name, self.space, self.count, self.num_alive = name, space, count, count
        self.deaths = space.empty(with_spare(count, SPARE_ROWS), np.int32)
        space.parallel_for(len(self.deaths), begin_life, count, self.deaths)
        self.weights = weights
        self.total_weight = total_weight
        self.lent = True
        self.weigh_one = weights is None
        self.names = None if names is None else Names(name, names)

    def give(self, count: int) -> int:
        """Give out so many ids and return the first; none of them is alive."""
        self.count += count
        return self.count - count

    def reserve(self, weighted: bool) -> None:
        """Have room for all ids, and for weights of their own."""
        space = self.space
        if self.count > len(self.deaths):
            deaths = extended(space, self.deaths, with_spare(self.count, SPARE_ROWS), -1)
            if not self.lent:
                self.weights = extended(space, self.weights, len(deaths), 0)
            self.deaths = deaths
        if self.lent and (weighted or self._outgrown()):
            weights = space.empty(len(self.deaths), np.int64)
            given = 0 if self.weights is None else len(self.weights)
            space.parallel_for(len(weights), take_over_weight, self.weights, given, self.deaths,
                               weights)
            self.weights, self.lent = weights, False

    def _outgrown(self) -> bool:
        """Whether there are more ids than weights that were lent."""
        return self.weights is not None and self.count > len(self.weights)

    def let_be(self, first: int, number: int, death: int, weights: Array | None,
               weight: int) -> None:
        """Let ids die at a time, and weigh as given, or all the same."""
        self.weigh_one &= weights is None
        if self.weights is None:
            self.space.parallel_for(number, write_death, first, death, self.deaths)
        else:
            self.space.parallel_for(number, write_life, first, death, weights, weight, self.deaths,
                                    self.weights)

    def bury(self, ids: np.ndarray) -> None:
        """Let ids be dead from the beginning; they must weigh nothing, if there are weights."""
        self.deaths[self.space.asarray(ids)] = -1
        self.num_alive -= len(ids)
        if self.weights is None:
            self.total_weight -= len(ids)

    def are_alive(self, ids: Sequence[int]) -> list[bool]:
        """Whether ids are alive, as the host gets to know.

        Changes nothing, for batches may be filled while another thread applies one.
        """
        given, deaths = np.array(ids, np.int64), self.deaths
        known = (given >= 0) & (given < len(deaths))
        times = self.space.to_host(deaths[self.space.asarray(np.where(known, given, 0))])
        found: list[bool] = (known & (times == ALIVE)).tolist()
        return found

    def alive(self) -> Array | None:
        """The ids that are alive, ascending; None if all are."""
        if self.num_alive == self.count:
            return None
        return positions_of(self.space, self.deaths[: self.count] == ALIVE)

    def ids(self) -> np.ndarray:
        """The same on the host."""
        alive = self.alive()
        return (np.arange(self.count) if alive is None
                else self.space.to_host(alive).astype(np.int64))

    def names_of_living(self) -> Sequence[Any] | None:
        """The names of those that are alive, in the order of their ids."""
        return None if self.names is None else self.names.listed(self.ids(), self.count)

    def labels(self) -> Sequence[Any] | None:
        """The name of each id, None for those that have none or are not alive."""
        if self.names is None:
            return None
        names = self.names.all(self.count)
        if self.num_alive == self.count:
            return names
        found: list[Any] = [None] * self.count
        for id in self.ids().tolist():
            found[id] = names[id]
        return found

    def renamed(self) -> np.ndarray:
        """The place of each id among the living, -1 for others."""
        ids, new = self.ids(), np.full(self.count, -1, np.int64)
        new[ids] = np.arange(len(ids))
        return new

    def weights_of_all(self) -> Array | None:
        """The weights of all ids."""
        return None if self.weights is None else self.weights[: self.count]

    def weights_of(self, chosen: Array | None) -> Array | None:
        """A copy of the weights of these ids, or of all."""
        weights = self.weights_of_all()
        if weights is None:
            return None
        return self.space.copy(weights) if chosen is None else weights[chosen]


class Weighings(Record):
    """New weights of ids, sorted by id and time; only the last of an id counts.

    Attributes
    ----------
    ids : array of int32
    was, will : array of int64
        -1 for those that do not count.
    length : int
    """

    ids: Array
    was: Array
    will: Array
    length: int


class Dying(Record):
    """Ids that are to die, and when.

    Attributes
    ----------
    ids, times, lenient : array of int32
        Entries of the batch; `lenient` says whether it may be dead.
    died : array of int32
        The ids that die by these entries, else -1.
    weights : array of int64
        What they weigh.
    """

    ids: Array
    times: Array
    lenient: Array
    died: Array
    weights: Array


def mark_deaths(living: Living, dying: Dying, tally: Tally) -> None:
    """Let ids die in a batch."""
    space, number = living.space, dying.length_of("ids")
    space.parallel_for(number, mark_death, dying, living.deaths)
    space.parallel_for(number, check_death, dying, living.deaths, living.weights, tally)


def forget_deaths(living: Living, ids: Array) -> None:
    """Let ids live on that were to die in the batch that is looked at."""
    living.space.parallel_for(len(ids), forget_death, ids, living.deaths)


def let_die(living: Living, dying: Dying) -> None:
    """Let those be dead that were to die; they weigh nothing."""
    _set_deaths(living, dying, -1, None)


def revive(living: Living, dying: Dying) -> None:
    """Let those be alive that have died, with their weights."""
    _set_deaths(living, dying, ALIVE, dying.weights)


def _set_deaths(living: Living, dying: Dying, value: int, weights: Array | None) -> None:
    space, number = living.space, dying.length_of("died")
    space.parallel_for(number, set_death, dying.died, value, living.deaths)
    if living.weights is not None:
        space.parallel_for(number, set_weight_of_dead, dying.died, weights, living.weights)


def weighings(living: Living, ids: Array, weights: Array, times: Array, tally: Tally) -> Weighings:
    """What weights are after a batch."""
    space, length = living.space, len(ids)
    keys, order = sort_keys(space, ids)
    result = Weighings(keys, space.empty(length, np.int64), space.empty(length, np.int64),
                       length)
    space.parallel_for(length, find_last_weight, result, order, weights, times, living.deaths,
                       living.weights, tally)
    return result


def weigh(living: Living, found: Weighings, backwards: bool = False) -> None:
    """Set weights as found, or as they were."""
    values = found.was if backwards else found.will
    living.weigh_one = False
    living.space.parallel_for(len(values), set_weight, found.ids, values, living.weights)


@kl.kernel
def begin_life(v, count, deaths):
    """The first ids are alive, others are to come."""
    deaths[v] = kl.int32(ALIVE) if v < count else kl.int32(-1)


@kl.kernel
def take_over_weight(v, lent, given, deaths, weights):
    """Weight of id v among those of our own: 0 of the dead and of those that are not born."""
    weight = kl.int64(0)
    if deaths[v] == ALIVE:
        weight = kl.int64(1)
        if v < given:
            weight = kl.int64(kl.value_or(lent, v, 1))
    weights[v] = weight


@kl.kernel
def write_death(i, first, death, deaths):
    """Id first + i dies at a time."""
    deaths[first + i] = death


@kl.kernel
def write_life(i, first, death, given, otherwise, deaths, weights):
    """Id first + i dies at a time, and weighs what is given."""
    deaths[first + i] = death
    weights[first + i] = kl.value_or(given, i, otherwise)


@kl.kernel
def mark_death(j, dying: Dying, deaths):
    """An id dies at the first time that says so, unless it is dead; by atomic_min."""
    if deaths[dying.ids[j]] >= 0:
        kl.atomic_min(deaths, kl.int64(dying.ids[j]), dying.times[j])


@kl.kernel
def check_death(j, dying: Dying, deaths, weights, tally: Tally):
    """died[j] = the id if it dies here, else -1, which is refused unless that is ignored."""
    v = kl.int64(dying.ids[j])
    dying.died[j] = -1
    dying.weights[j] = kl.value_or(weights, v, 1)
    if deaths[v] == dying.times[j]:
        dying.died[j] = v
        kl.atomic_add(tally, Tally.died, 1)
        kl.atomic_add(tally, Tally.weight, -kl.value_or(weights, v, 1))
    elif dying.lenient[j] != 0:
        kl.atomic_add(tally, Tally.missing, 1)
    else:
        refuse(tally, kl.int64(dying.times[j]), MISSING)


@kl.kernel
def forget_death(j, ids, deaths):
    """An id that was to die lives on."""
    if deaths[ids[j]] >= 0:
        deaths[ids[j]] = ALIVE


@kl.kernel
def set_death(j, died, value, deaths):
    """Set when an id dies."""
    if died[j] >= 0:
        deaths[died[j]] = value


@kl.kernel
def set_weight_of_dead(j, died, values, weights):
    """Set the weight of an id that has died, to 0 without values."""
    if died[j] >= 0:
        weights[died[j]] = kl.value_or(values, j, 0)


@kl.kernel
def find_last_weight(i, found: Weighings, order, weights, times, deaths, old, tally: Tally):
    """Weight of an id before and after, where it is weighed last; refused where it is dead."""
    v = kl.int64(found.ids[i])
    j = kl.int64(order[i])
    found.was[i] = -1
    found.will[i] = -1
    last = True
    if i + 1 < found.length:
        last = found.ids[i + 1] != v
    if deaths[v] <= times[j]:
        refuse(tally, kl.int64(times[j]), DEAD_FIRST)
    elif last:
        found.was[i] = kl.value_or(old, v, 1)
        found.will[i] = weights[j]
        if deaths[v] == ALIVE:
            kl.atomic_add(tally, Tally.weight, kl.int64(weights[j]) - kl.value_or(old, v, 1))


@kl.kernel
def set_weight(i, ids, values, weights):
    """Set the weight of an id, where it counts."""
    if values[i] >= 0:
        weights[ids[i]] = values[i]
