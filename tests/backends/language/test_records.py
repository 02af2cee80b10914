"""Records and words: on every space what plain arrays give, and refused where they do not fit."""

from __future__ import annotations

import numpy as np
import pytest

from portpart.backends import cuda
from portpart.backends.language import Record, work
from portpart.backends.programs.program import Program
from portpart.errors import KernelTypeError
from portpart.generators import delaunay
from tests.backends import record_kernels as kernels
from tests.backends.language.test_check import assert_refused
from tests.backends.record_kernels import Level, Lists, Rows, Run, Steps, Tables
from tests.helpers.each import looped
from tests.helpers.emulation.lanes import LanesSpace

TEAM = 8


@pytest.fixture(params=["of the run", "two lanes"])
def every_space(request, space):
    """The spaces of the run, and lanes of a team side by side."""
    return LanesSpace(2) if request.param == "two lanes" else space


@pytest.fixture(scope="module")
def graph():
    return delaunay(40)


def rows_of(space, graph, weights=None):
    offsets = space.asarray(np.array(graph.offsets))
    weights = weights if weights is None else space.asarray(weights)
    return Rows(offsets[:-1], offsets[1:], space.asarray(np.array(graph.targets)), weights)


def matrix_of(graph, weights=None):
    weights = np.ones(graph.num_arcs, np.int64) if weights is None else weights
    tails = np.repeat(np.arange(graph.num_vertices), np.diff(graph.offsets))
    result = np.zeros((graph.num_vertices,) * 2, np.int64)
    np.add.at(result, (tails, graph.targets), weights)
    return result


@looped("dtype", [None, np.int32, np.int64])
def test_a_launch_takes_records_and_words(every_space, graph, dtype):
    space, n = every_space, graph.num_vertices
    weights = None if dtype is None else np.arange(graph.num_arcs).astype(dtype) % 7
    lists = Lists(space.zeros(n, np.int32), 12)
    level = Level(space.zeros(3, np.int64))
    rows = rows_of(space, graph, weights)
    space.parallel_for(n, kernels.list_heavy, rows, lists, level, team=TEAM)
    expected = np.flatnonzero(matrix_of(graph, weights).sum(axis=1) > 12)
    words = Level(space.to_host(level.array))
    assert 0 < len(expected) < n or dtype is None
    assert (words.length, words.arcs) == (len(expected), graph.num_arcs)
    assert sorted(space.to_host(lists.heavy)[: len(expected)]) == expected.tolist()
    space.parallel_for(1, kernels.plan, level)
    assert space.to_host(level.array).tolist() == [0, graph.num_arcs, len(expected)]


def test_a_program_takes_records_and_words(every_space, graph):
    space, n = every_space, graph.num_vertices
    bound = {"rows": rows_of(space, graph), "level": Level(space.zeros(3, np.int64)),
             "lists": Lists(space.zeros(n, np.int32), 6)}
    program = Program("records")
    for name, record in bound.items():
        program.record(name, record)
    level = program.records["level"]
    program.launch(n, kernels.list_heavy, team=TEAM)
    with program.if_nonzero(level.length):
        program.launch(1, kernels.plan)
    space.executable(program).run(bound, n)
    heavy = np.count_nonzero(np.diff(graph.offsets) > 6)
    assert heavy > 0
    assert space.to_host(bound["level"].array).tolist() == [0, graph.num_arcs, heavy]


def test_a_program_takes_work_arrays_and_words_that_travel(every_space, graph):
    space, n = every_space, graph.num_vertices
    lists, level = Lists(work(np.int32, lambda n: n), 6), Level.of(arcs=3)
    found = space.zeros(3, np.int64)
    program = Program("work arrays")
    rows = program.record("rows", rows_of(space, graph))
    program.record("lists", lists)
    program.record("level", level)
    program.record("found", Level(found))
    program.launch(n, kernels.list_heavy, team=TEAM)
    program.launch(1, kernels.copy_words)
    bound = {"rows": rows_of(space, graph), "lists": lists, "level": level, "found": Level(found)}
    space.executable(program).run(bound, n, n)
    heavy = np.count_nonzero(np.diff(graph.offsets) > 6)
    assert space.to_host(found).tolist() == [heavy, graph.num_arcs + 3, 0]
    assert rows.replaced(begin=rows.end).begin is rows.end


def test_a_team_may_have_words_of_its_own(every_space):
    space = every_space
    level = Level(space.asarray(np.array([3, 4, 5])))
    space.parallel_for(1, kernels.shift_words, level, team=TEAM)
    assert space.to_host(level.array).tolist() == [4, 5, 3 * 4]


def test_lanes_have_arrays_of_their_own(every_space, graph):
    space, n = every_space, graph.num_vertices
    result = space.zeros(n, np.int64)
    space.parallel_for(n, kernels.sum_of_lanes, rows_of(space, graph), result, team=TEAM)
    lanes = {"lanes": 2}.get(space.name, TEAM if space.widest_team > 1 else 1)
    expected = np.diff(graph.offsets) * (lanes * (lanes + 1) // 2)
    assert space.to_host(result).tolist() == expected.tolist()


def test_words_are_given_by_name():
    assert Level.of(arcs=5, rounds=2).array == (0, 5, 2)
    with pytest.raises(TypeError, match="Level has no word runs"):
        Level.of(runs=1)


@pytest.mark.parametrize("in_a_program", [False, True])
def test_records_may_stand_in_records(every_space, graph, in_a_program):
    space, n = every_space, graph.num_vertices
    level = Level(space.zeros(3, np.int64))
    run = Run(Lists(space.zeros(n, np.int32), 4), level)
    bound = {"rows": rows_of(space, graph), "run": run}
    if in_a_program:
        program = Program("nested")
        for name, record in bound.items():
            program.record(name, record)
        program.launch(n, kernels.list_light, team=TEAM)
        space.executable(program).run(bound, n)
    else:
        space.parallel_for(n, kernels.list_light, *bound.values(), team=TEAM)
    light = np.flatnonzero(np.diff(graph.offsets) <= 4)
    assert len(light) > 0
    assert sorted(space.to_host(run.lists.heavy)[: len(light)]) == light.tolist()
    assert space.to_host(level.array).tolist() == [len(light), graph.num_arcs, 7]


@pytest.mark.parametrize(("measure", "tables", "of"), [
    (kernels.distance, Steps(3), lambda a, b: 3 * abs(a - b)),
    (kernels.same, Tables(), lambda a, b: 1),
])
def test_an_empty_record_stands_for_the_one_that_a_device_function_takes(
        every_space, graph, measure, tables, of):
    space, n = every_space, graph.num_vertices
    result = space.zeros(n, np.int64)
    made = kernels.lengths(measure)
    space.parallel_for(n, made, rows_of(space, graph), tables, result, team=TEAM)
    matrix = matrix_of(graph)
    assert space.to_host(result).tolist() == [
        sum(of(v, int(u)) for u in np.flatnonzero(matrix[v])) for v in range(n)]
    assert ("tables_step" in made.parameters) == (measure is kernels.distance)


def test_team_arrays_make_a_record(every_space, graph):
    space, n = every_space, graph.num_vertices
    weights = np.arange(graph.num_arcs, dtype=np.int32)
    result = space.zeros(n, np.int64)
    space.parallel_for(n, kernels.first_four, rows_of(space, graph, weights), result, team=TEAM)
    begins = graph.offsets[:-1]
    expected = [sum(int(graph.targets[arc]) * arc for arc in range(begin, begin + 4)
                    if arc < graph.offsets[v + 1]) for v, begin in enumerate(begins)]
    assert space.to_host(result).tolist() == expected


def test_only_fields_that_are_used_are_parameters():
    assert kernels.list_heavy.parameters == [
        "v", "rows_begin", "rows_end", "rows_weights", "lists_heavy", "lists_threshold", "level"]


def test_the_source_names_fields(graph):
    offsets = np.array(graph.offsets)
    rows = Rows(offsets[:-1], offsets[1:], graph.targets, None)
    text = cuda.source(kernels.lengths(kernels.same), rows, Tables(), np.zeros(3, np.int64))
    assert "rows_targets" in text
    assert "weights" not in text


@pytest.mark.parametrize(("arguments", "problem"), [
    ((np.zeros(3), np.zeros(3)), "2 arguments are given, 3 are needed"),
    ((Steps(3), Lists(0, 0), Level([0] * 3)), "'rows' takes a record of class Rows, not Steps"),
    ((np.zeros(3), Lists(0, 0), Level([0] * 3)), "takes a record of class Rows, not ndarray"),
    ((Rows(0, 0, 0, 0), Lists(0, 0), np.zeros(3)), "takes a record of class Level, not ndarray"),
])
def test_a_launch_refuses_other_records(space, arguments, problem):
    with pytest.raises(KernelTypeError, match=problem) as caught:
        space.parallel_for(1, kernels.list_heavy, *arguments)
    assert "record_kernels.py" in str(caught.value)
    assert "list_heavy" in str(caught.value)


@pytest.mark.parametrize(("values", "named", "problem"), [
    ((1, 2), {}, "missing 2 required positional arguments: 'targets' and 'weights'"),
    ((1, 2, 3), {"wights": 4}, "unexpected keyword argument 'wights'"),
    ((1, 2, 3, 4), {"begin": 1}, "multiple values for argument 'begin'"),
    ((1, 2, 3, 4, 5, 6), {}, "but 7 were given"),
])
def test_a_record_has_the_fields_of_its_class(values, named, problem):
    with pytest.raises(TypeError, match=problem):
        Rows(*values, **named)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_record_of_a_subclass_has_its_fields_too_whichever_is_made_first(order):
    class Short(Record):
        begin: int

    class Long(Short):
        end: int = 7

    makers = [lambda: Short(1), lambda: Long(2), lambda: Long(begin=3, end=4)]
    made = {number: makers[number]() for number in (*order, 2)}
    assert [dict(made[number].named()) for number in range(3)] == [
        {"begin": 1}, {"begin": 2, "end": 7}, {"begin": 3, "end": 4}]


def test_a_record_does_not_change():
    rows = Rows(1, 2, 3, weights=4)
    assert (rows.begin, rows.end, rows.targets, rows.weights, rows.unused) == (1, 2, 3, 4, None)
    assert rows.replaced(weights=5).weights == 5
    with pytest.raises(AttributeError, match="'begin' is set"):
        rows.begin = 3
    assert rows.begin == 1


def test_a_launch_refuses_a_record_in_place_of_an_array(space):
    rows = Rows(*[space.zeros(1, np.int32)] * 4)
    with pytest.raises(KernelTypeError, match="Steps"):
        space.parallel_for(1, kernels.lengths(kernels.same), rows, Tables(), Steps(3))


def test_a_program_names_what_is_missing():
    with pytest.raises(ValueError, match="list_heavy needs rows, lists, level, which no"):
        Program("records").launch(1, kernels.list_heavy)


RECORDS = """\
from typing import Any
from portpart.backends.language import Record, Words, lane_array


class Rows(Record):
    begin: Any
    end: Any


class Level(Words):
    length: int


class Run(Record):
    rows: Rows
    level: Level


@device
def read(v, rows: Rows):
    return rows.begin[v]


@device
def plain(v, values):
    return values[v]


"""
FIRST = RECORDS.count("\n") + 1

REFUSED = [
    ("a field that is not there", "rows: Rows, x", "x[i] = rows.start[i]",
     "Rows has no field 'start'", "begin, end"),
    ("a word that is not there", "level: Level, x", "x[i] = level.size",
     "Level has no word 'size'", "length"),
    ("an index that is not there", "level: Level, x", "x[i] = Level.size",
     "Level has no word 'size'", "length"),
    ("a field that is assigned to", "rows: Rows", "rows.begin = 3",
     "field 'begin' of a record is assigned to", "record.field[i] = x"),
    ("a record as a number", "rows: Rows, x", "x[i] = rows",
     "record 'rows' is used as a number or an array", "read a field"),
    ("words as a number", "level: Level, x", "x[i] = level",
     "record 'level' is used as a number or an array", "read a field"),
    ("a record that is assigned to", "rows: Rows, x", "rows = x[i]",
     "record 'rows' is assigned to", "another name"),
    ("a record where an array is expected", "rows: Rows, x", "x[i] = plain(i, rows)",
     "record 'rows' is used as a number or an array", "device function that takes such"),
    ("an array where a record is expected", "x", "x[i] = read(i, x)",
     "read takes a Rows as 'rows', this is not a record", "of that class"),
    ("another record", "level: Level, x", "x[i] = read(i, level)",
     "read takes a Rows as 'rows', this is a Level", "of that class"),
    ("too few arguments", "rows: Rows, x", "x[i] = read(rows)",
     "read with 1 arguments", "it takes 2"),
    ("a record in a record as a number", "run: Run, x", "x[i] = run.rows",
     "record 'rows' is used as a number or an array", "read a field"),
    ("a field that is not there further in", "run: Run, x", "x[i] = run.rows.start[i]",
     "Rows has no field 'start'", "begin, end"),
    ("a record made of numbers", "x", "rows = Rows(begin=1, end=2)",
     "what the record is made of is not an array", "team_array(int64, 256)"),
    ("words made of a number", "x", "level = Level(x)",
     "what the record is made of is not an array", "team_array(int64, 256)"),
    ("a record made with other fields", "x", "rows = Rows(begin=x)",
     "Rows has the fields begin, end", "team_array(int64, 256)"),
    ("a record made in passing", "x", "x[i] = read(i, Rows(x, x))",
     "read takes a Rows as 'rows', this is not a record", "of that class"),
    ("a name that hides a field", "rows: Rows, rows_begin, x", "x[i] = rows.begin[i]",
     "'rows_begin' is also what field 'begin' of 'rows' is called", "another name"),
]


@pytest.mark.parametrize(("parameters", "statement", "problem", "remedy"),
                         [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_what_is_no_use_of_a_record_is_refused_with_its_place(
        tmp_path, parameters, statement, problem, remedy):
    source = f"{RECORDS}@kernel\ndef faulty(i, {parameters}):\n    {statement}\n"
    line = FIRST if "hides" in problem or "is also what" in problem else FIRST + 1
    assert_refused(tmp_path, source, line, problem, remedy)


def test_atomics_on_an_array_of_a_lane_are_refused(tmp_path):
    """A thread's own memory has none."""
    body = "own = lane_array(int64, 2)\n    atomic_add(own, 0, 1)\n    x[i] = own[0]"
    source = f"{RECORDS}@kernel\ndef faulty(i, x):\n    {body}\n"
    assert_refused(tmp_path, source, FIRST + 2, "team array 'own' is used as a number", "index it")


def test_other_annotations_are_refused(tmp_path):
    source = f"{RECORDS}@kernel\ndef faulty(i, x: int):\n    x[i] = 1\n"
    assert_refused(tmp_path, source, FIRST, "annotated with what is not a record",
                   "records and words")
