"""Ghosts and sums over ranks, against arrays that hold the values of all ranks."""

from __future__ import annotations

import numpy as np
import pytest

from portpart.backends.communication import Local
from portpart.backends.language import Record
from portpart.backends.programs.program import Program
from portpart.primitives.basic import NameIndex, name_index
from portpart.primitives.mail import Mail, MailSizes, ship
from portpart.primitives.owners import Halo, record_prefix, record_push
from portpart.primitives.ranks import Owners
from tests.helpers.each import looped
from tests.helpers.ranks.rank_rows import SIZES, SPACES, space_of

TYPES = {"narrow": (np.int32,), "wide": (np.int64,), "both": (np.int8, np.int64, np.int32)}
N = 40


@pytest.fixture(params=SPACES)
def here(request):
    """Each way to run programs that communicate."""
    return space_of(request.param)


def there(space, bound):
    """The arrays of the host, also those in records, on a space."""
    return {name: space.asarray(each) if isinstance(each, np.ndarray)
            else each.replaced(**{field: space.asarray(value) for field, value in each.named()
                                  if isinstance(value, np.ndarray)})
            if isinstance(each, Record) else each for name, each in bound.items()}


def borders(size, rng):
    """Where the ranges of the ranks begin; some are empty."""
    return np.concatenate([[0], np.sort(rng.integers(0, N + 1, size - 1)), [N]])


def values_of(kind, rng):
    """Values of all vertices, of each type as large as it holds."""
    limits = np.iinfo(kind)
    return rng.integers(limits.min, limits.max, N, kind, endpoint=True)


def owners_of(comm, first):
    """The record of a rank."""
    return Owners(first=first).with_words(size=comm.size, rank=comm.rank)


def halo_of(space, comm, first, ghosts):
    """The halo of a rank, and the global ids of its ghosts."""
    begin, end = first[comm.rank], first[comm.rank + 1]
    entries = sorted((v - begin, rank, place) for rank, wanted in enumerate(ghosts)
                     for place, v in enumerate(w for w in wanted if begin <= w < end))
    border, counts = np.unique([v for v, _, _ in entries], return_counts=True)
    names = np.append(border, end - begin).astype(np.int32)
    halo = Halo(border=name_index(space, space.asarray(names), int(end - begin) + 1),
                begin=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
                ranks=np.array([rank for _, rank, _ in entries], np.int32),
                places=np.array([place for _, _, place in entries], np.int32),
                ghost_first=end - begin + np.searchsorted(ghosts[comm.rank], first))
    return halo, ghosts[comm.rank]


def record_pushing(halo, fields, sizes):
    """A program that pushes these fields."""
    program = Program("push", sizes=sizes)
    program.record("owners", Owners(first=np.zeros(1, int)).with_words())
    slots = [program.array(f"field_{i}", field.dtype) for i, field in enumerate(fields)]
    changed, count = program.array("changed", np.int32), program.array("count", np.int64)
    record_push(program, program.record("halo", halo), program.record("mail", Mail()), slots,
                changed, count[0])
    return program


@looped("size", SIZES)
@looped("kinds", TYPES)
@looped("some", [True, False])
def test_ghosts_of_changed_vertices_get_new_values_and_no_others(here, size, kinds, some):
    rng = np.random.default_rng([size, len(kinds)])
    first = borders(size, rng)
    old = [values_of(kind, rng) for kind in TYPES[kinds]]
    new = [values_of(kind, rng) for kind in TYPES[kinds]]
    ghosts = [np.array([v for v in range(N) if not first[r] <= v < first[r + 1]
                        and rng.random() < 0.4], int) for r in range(size)]
    changes = rng.random(N) < 0.5 if some else np.ones(N, bool)

    def main(comm):
        halo, names = halo_of(here, comm, first, ghosts)
        own = np.arange(first[comm.rank], first[comm.rank + 1])
        fields = [np.concatenate([after[own], before[names]]) for before, after in zip(old, new)]
        changed = np.flatnonzero(changes[own]).astype(np.int32)
        width = 7
        sizes = MailSizes(size, width * len(halo.ranks), width * len(names))
        program = record_pushing(halo, fields, sizes)
        bound = there(here, {
            **{f"field_{i}": field for i, field in enumerate(fields)}, "halo": halo,
            "owners": owners_of(comm, first), "changed": changed, "comm": comm,
            "count": np.array([len(changed)])})
        here.executable(program).run(bound, size=N, sizes=sizes)
        for i, (before, after) in enumerate(zip(old, new)):
            field = here.to_host(bound[f"field_{i}"])
            assert (field[: len(own)] == after[own]).all()
            assert (field[len(own) :] == np.where(changes, after, before)[names]).all()

    Local(size).run(main)


@looped("size", SIZES)
def test_prefixes_are_sums_over_the_ranks_before(here, size):
    counts = np.random.default_rng(size).integers(0, 2**40, size)

    def main(comm):
        program = Program("prefix")
        program.record("owners", Owners(first=np.zeros(1, int)).with_words())
        count, shares, before = (program.array(name, np.int64)
                                 for name in ("count", "shares", "before"))
        record_prefix(program, count[1], shares, before)
        bound = there(here, {
            "count": np.array([5, counts[comm.rank]]), "shares": np.full(size, 9),
            "before": np.zeros(2, int), "comm": comm,
            "owners": owners_of(comm, np.zeros(size + 1, int))})
        here.executable(program).run(bound, size=1)
        assert here.to_host(bound["shares"]).tolist() == counts.tolist()
        return here.to_host(bound["before"]).tolist()

    assert Local(size).run(main) == [[counts[:rank].sum(), counts.sum()] for rank in range(size)]


@looped("size", SIZES)
@looped("max_count", [3, 2**31 - 1])
def test_rows_arrive_where_they_are_sent(here, size, max_count):
    rng = np.random.default_rng(size)
    counts = rng.integers(0, 9, (size, size))
    rows = [[rng.integers(-99, 99, n) for n in line] for line in counts]

    def main(comm):
        column = np.concatenate(rows[comm.rank])
        columns = [here.asarray(column), None, here.asarray(column.astype(np.int32))]
        (wide, absent, narrow), arriving = ship(comm, here, columns, counts[comm.rank])
        assert absent is None
        wide, narrow = here.to_host(wide), here.to_host(narrow)
        assert narrow.dtype == np.int32
        assert narrow.tolist() == wide.tolist()
        assert arriving.tolist() == counts[:, comm.rank].tolist()
        assert wide.tolist() == np.concatenate([line[comm.rank] for line in rows]).tolist()

    Local(size, max_count).run(main)


def test_fields_that_cannot_travel_are_refused():
    begin = np.zeros(1, np.int32)
    halo = Halo(border=NameIndex(begin, begin).with_words(), begin=begin, ranks=begin[:0],
                places=begin[:0], ghost_first=np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="4 fields; an item has 3 at most"):
        record_pushing(halo, 4 * [begin], None)
    with pytest.raises(ValueError, match="'field_0' has no signed integers"):
        record_pushing(halo, [begin.astype(float)], None)
