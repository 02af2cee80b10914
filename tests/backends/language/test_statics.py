"""Static parameters: the same code as without them, on every space; and what is refused."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, field

import numpy as np
import pytest

from portpart.backends import cuda, language as kl
from portpart.backends.language import Static, StaticValue
from portpart.backends.programs.program import Program
from portpart.errors import KernelSyntaxError, KernelTypeError
from tests.backends import static_kernels
from tests.backends.static_kernels import (
    COUNTER,
    Outer,
    Pair,
    Rules,
    Three,
    add_up,
    add_up_outer,
    by_hand,
    largest_of_three,
    line,
    no_bonus,
    unit,
)

LEFT, RIGHT = np.array([3, 1, 4, 1, 5]), np.array([1, 4, 2, 2, 2])
CASES = [(Rules(unit), by_hand(unit, 2, False)), (Rules(line, 3, True), by_hand(line, 6, True))]


def expected(rules: Rules, last) -> list[int]:
    """What `add_up` writes, in plain Python; `last` is the second distance."""
    plain = {unit: lambda a, b: int(a != b), line: lambda a, b: abs(int(a) - int(b))}
    distance, final = plain[rules.distance], plain[last]
    return [sum(distance(a, RIGHT[j]) * (2 * rules.times + j) for j in range(2))
            * (2 if rules.is_even else 1) + final(a, 0) for a in LEFT]


@pytest.mark.parametrize(("rules", "factory"), CASES)
def test_generated_text_is_that_of_a_kernel_without_static_parameters(rules, factory):
    arrays = Pair(np.arange(4), np.arange(4)), np.zeros(4, np.int64)
    texts = {re.sub(r"add_up_[0-9a-f]{8}|//.*", "", cuda.source(each, *arrays))
             for each in (add_up.bound(rules=rules), factory)}
    assert len(texts) == 1


@pytest.mark.parametrize(("rules", "_"), CASES)
def test_a_bound_kernel_runs_on_every_space(space, rules, _):
    result = space.zeros(5, np.int64)
    pair = Pair(space.asarray(LEFT), space.asarray(RIGHT))
    space.parallel_for(5, add_up.bound(rules=rules), pair, result)
    assert space.to_host(result).tolist() == expected(rules, line)


@kl.kernel
def store_twice(i, values, pair: static_kernels.Pair, times: kl.StaticValue):
    """values[i] = several times the left one of a pair."""
    values[i] = times * pair.left[i]


def test_annotations_may_be_members_of_modules(space):
    result, pair = space.zeros(5, np.int64), Pair(space.asarray(LEFT), space.asarray(RIGHT))
    space.parallel_for(5, store_twice.bound(times=2), result, pair)
    assert space.to_host(result).tolist() == (2 * LEFT).tolist()


@pytest.mark.parametrize("even", [False, True])
def test_values_inside_of_values_and_static_types_run_on_every_space(space, even):
    rules = Rules(unit, is_even=even)
    result = space.zeros(5, np.int64)
    pair = Pair(space.asarray(LEFT), space.asarray(RIGHT))
    bound = add_up_outer.bound(outer=Outer(rules, 32), counter=COUNTER)
    space.parallel_for(5, bound, pair, result)
    scale = 32 if even else 3
    assert space.to_host(result).tolist() == [scale * each for each in expected(rules, unit)]


def test_a_program_finds_static_arguments_by_name(space):
    program = Program("with rules")
    pair = Pair(space.asarray(LEFT), space.asarray(RIGHT))
    program.record("pair", pair)
    program.array("result", np.int64)
    program.statics["rules"] = Rules(unit)
    program.launch(5, add_up)
    result = space.zeros(5, np.int64)
    space.executable(program).run({"pair": pair, "result": result}, size=5)
    assert space.to_host(result).tolist() == expected(Rules(unit), line)


def test_a_launch_may_give_other_static_values_than_its_program(space):
    program = Program("with rules")
    pair = Pair(space.asarray(LEFT), space.asarray(RIGHT))
    program.record("pair", pair)
    program.array("result", np.int64)
    program.statics["rules"] = Rules(unit)
    program.launch(5, add_up, rules=Rules(line, 3, True))
    result = space.zeros(5, np.int64)
    space.executable(program).run({"pair": pair, "result": result}, size=5)
    assert space.to_host(result).tolist() == expected(Rules(line, 3, True), line)


def test_equal_values_give_the_same_kernel_and_different_ones_different_code():
    assert add_up.bound(rules=Rules(unit)) is add_up.bound(rules=Rules(unit))
    prints = {add_up.bound(rules=rules).fingerprint for rules in (
        Rules(unit), Rules(line), Rules(unit, 2), Rules(unit, bonus=no_bonus),
        Rules(unit, is_even=True))}
    assert len(prints) == 5


def test_members_that_no_function_reads_do_not_change_the_code():
    assert len({add_up.bound(rules=Rules(unit, unused=value)).fingerprint
                for value in (0, 1)}) == 1


def test_members_that_only_a_called_function_reads_change_the_code():
    prints = {add_up_outer.bound(outer=Outer(Rules(unit, times)), counter=COUNTER).fingerprint
              for times in (1, 2)}
    assert len(prints) == 2


def test_fingerprints_are_the_same_in_another_process():
    name = "add_up.bound(rules=Rules(line, 3, True, no_bonus)).fingerprint"
    code = f"from tests.backends.static_kernels import *; print({name})"
    others = {subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                             check=True, env={"PYTHONHASHSEED": str(seed), "PYTHONPATH": "."}
                             ).stdout.strip() for seed in (1, 2)}
    assert others == {add_up.bound(rules=Rules(line, 3, True, no_bonus)).fingerprint}


def test_numbers_of_different_types_are_different_values():
    @kl.device
    def keep(x, number: StaticValue):
        return x + number

    assert len({keep.bound(number=value).fingerprint for value in (1, True, 1.0)}) == 3


def test_a_bound_kernel_runs_as_plain_python():
    result = np.zeros(5, np.int64)
    bound = keep_largest.bound(number=4)
    for i in range(5):
        bound(i, LEFT, result)
    assert result.tolist() == [4, 4, 4, 4, 5]


@kl.kernel
def keep_largest(i, values, result, number: StaticValue):
    """result[i] = the larger one of a value and a number."""
    result[i] = max(values[i], number)


@dataclass(frozen=True)
class Holder(Static):
    """A value that code cannot follow from."""

    distance: object = field(default_factory=dict)


def test_values_that_code_cannot_follow_from_are_refused():
    with pytest.raises(KernelTypeError, match="must be a number, a device function"):
        assert add_up.bound(rules=Rules("hops")).fingerprint
    with pytest.raises(KernelTypeError, match="is not frozen"):
        add_up.bound(rules=Holder())
    with pytest.raises(KernelTypeError, match="bound to rules, other; its static parameters"):
        add_up.bound(rules=Rules(unit), other=2)
    with pytest.raises(KernelSyntaxError, match="'rules' has no 'distance'"):
        add_up.bound(rules=Outer(Rules(unit))).check()


def test_static_arrays_run_on_every_space_and_as_plain_python(space):
    values, result = np.array([3, 8, 2, 7, 6, 6]), space.zeros(4, np.int64)
    space.parallel_for(4, largest_of_three, space.asarray(values), result)
    odd = values | 1
    wanted = [int(max(odd[i : i + 3])) for i in range(4)]
    assert space.to_host(result).tolist() == wanted
    plain = np.zeros(4, np.int64)
    for i in range(4):
        largest_of_three(i, values, plain)
    assert plain.tolist() == wanted


def refused(function, **values):
    """What the check of a function with these static values says."""
    with pytest.raises(KernelSyntaxError) as caught:
        kl.device(function).bound(**values).check()
    return str(caught.value)


def test_members_that_are_missing_are_named():
    def reads(x, rules: Rules):
        return rules.nothing

    assert "'rules' has no 'nothing'" in refused(reads, rules=Rules(unit))


def test_static_values_cannot_be_assigned_to():
    def assigns(x, rules: Rules):
        rules = x
        return rules

    def stores(x, rules: Rules):
        rules.times = x
        return x

    assert "static parameter 'rules' is assigned to" in refused(assigns, rules=Rules(unit))
    assert "'rules.times' is assigned to" in refused(stores, rules=Rules(unit))


def test_arguments_that_are_not_static_are_refused():
    def passes(x, rules: Rules):
        return sum_of(x, x)

    @kl.device
    def sum_of(x, number: StaticValue):
        return x + number

    def too_few(x, rules: Rules):
        return sum_of(x)

    message = refused(passes, rules=Rules(unit))
    assert "'x' is not known when the kernel is compiled" in message
    assert "it takes number as well" in refused(too_few, rules=Rules(unit))


def test_loops_over_static_ranges_cannot_be_left():
    def leaves(x, rules: Rules):
        total = x
        for j in kl.static_range(rules.times):
            if total > j:
                break
            total += j
        return total

    assert "a loop over static_range cannot be left" in refused(leaves, rules=Rules(unit))


def test_elements_of_static_arrays_have_known_numbers():
    def beyond(x, rules: Rules):
        found = Three()
        for j in kl.static_range(4):
            found[j] = x
        return found[0]

    def unknown(x, rules: Rules):
        found = Three()
        for j in kl.static_range(3):
            found[j] = x
        return found[x]

    def stores(x, found: Three, rules: Rules):
        found[0] = x
        return x

    def reads_early(x, rules: Rules):
        found = Three()
        found[0] = x
        return found[1]

    assert "element 3 of a static array" in refused(beyond, rules=Rules(unit))
    assert "element x of a static array" in refused(unknown, rules=Rules(unit))
    assert "an element of 'found' is assigned to" in refused(stores, rules=Rules(unit))
    assert "'found_1' may be used before it has a value" in refused(reads_early, rules=Rules(unit))


def test_a_method_is_no_member_that_a_kernel_can_use():
    def calls(x, rules: Rules):
        return rules.half()

    assert "is not a device function or a kernel word" in refused(calls, rules=Rules(unit))


def test_a_side_that_is_not_kept_is_not_checked():
    @kl.device
    def either(x, rules: Rules):
        if rules.is_even:
            return x.nonsense
        return x

    assert either.bound(rules=Rules(unit)).check()
    with pytest.raises(KernelSyntaxError):
        either.bound(rules=Rules(unit, is_even=True)).check()
