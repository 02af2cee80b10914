"""A kernel is known by all that decides about its code, and by nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import portpart
from portpart.backends.cpu.space import CpuSpace
from portpart.backends.language import Kernel, fingerprint as signatures
from portpart.backends.language.kernels import CheckedFunction
from portpart.base import cache_folder
from tests.backends.cpu.test_cpu_space import run_python
from tests.backends.expressions_in_both import load_module
from tests.backends.language.test_check import library_functions, load_as_library

CONSTANTS = "OFFSET = 5\nOTHER = 7\n"

TEXT = """from typing import Any
from portpart.backends.language import Record, Words, device, int64, kernel, team_array
import constants_of_a_test as at

SIZE = 4
FACTOR = 2


class Weights(Record):
    low: Any
    high: Any


class Pair(Record):
    first: Any
    second: Any
    weights: Weights


class Level(Words):
    running: int
    blocks: int


@device
def scaled(x):
    return x * FACTOR


@device
def moved(x):
    return scaled(x) + 1


@kernel
def combine(i, pair: Pair, level: Level):
    words = team_array(int64, SIZE)
    words[0] = moved(pair.second[i])
    pair.first[i] = words[0] + at.OFFSET + level.blocks + pair.weights.low[i]
"""

CHANGES = {
    "a constant": ("FACTOR = 2", "FACTOR = 3"),
    "the type of a constant": ("FACTOR = 2", "FACTOR = 2.0"),
    "the size of a team array": ("SIZE = 4", "SIZE = 5"),
    "an operator of a function that a function calls": ("x * FACTOR", "x + FACTOR"),
    "a number in a function": ("scaled(x) + 1", "scaled(x) + 2"),
    "another constant of a module": ("at.OFFSET", "at.OTHER"),
    "the order of fields": ("first: Any\n    second: Any", "second: Any\n    first: Any"),
    "the order of fields of a record inside": ("low: Any\n    high: Any",
                                               "high: Any\n    low: Any"),
    "a new field": ("second: Any", "second: Any\n    third: Any"),
    "the order of words": ("running: int\n    blocks: int", "blocks: int\n    running: int"),
    "another class": ("pair: Pair, level: Level", "pair: Weights, level: Level"),
    "the form of a statement": ("words[0] + at.OFFSET + level.blocks",
                                "words[0] + (at.OFFSET + level.blocks)"),
    "another word": ("int64, kernel", "int32 as int64, kernel"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    (tmp_path / "constants_of_a_test.py").write_text(CONSTANTS)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("constants_of_a_test", None)


def combine_of(text: str, folder: Path) -> Kernel:
    return load_as_library(folder / "late.py", text).combine


@pytest.mark.parametrize("change", CHANGES)
def test_another_meaning_is_another_fingerprint(folder, change):
    before, after = CHANGES[change]
    assert before in TEXT
    kernel = combine_of(TEXT, folder)
    assert combine_of(TEXT.replace(before, after), folder).fingerprint != kernel.fingerprint


def test_a_constant_of_a_module_counts_by_its_value(folder):
    kernel = combine_of(TEXT, folder)
    module = sys.modules["constants_of_a_test"]
    assert combine_of(TEXT, folder).fingerprint == kernel.fingerprint
    module.OTHER = 8
    assert combine_of(TEXT, folder).fingerprint == kernel.fingerprint
    module.OFFSET = 6
    assert combine_of(TEXT, folder).fingerprint != kernel.fingerprint


def test_what_stands_around_a_kernel_does_not_count(folder):
    kernel = combine_of(TEXT, folder)
    further = TEXT.replace("SIZE = 4", "UNUSED = 1\n\n\nSIZE = 4")
    assert combine_of(further, folder).fingerprint == kernel.fingerprint
    assert "_found" in vars(kernel)
    assert kernel._found is None, "the source was read"


def test_the_meaning_of_names_when_a_kernel_is_checked_counts(tmp_path):
    text = ("from portpart.backends.language import kernel\nVALUE = 1\n@kernel\n"
            "def write_value(i, result):\n    result[i] = VALUE\n")
    module = load_module(text, tmp_path)
    module.VALUE = 2
    other = load_module(text.replace("VALUE = 1", "VALUE = 2"), tmp_path)
    space, result = CpuSpace(1), np.zeros(2, np.int64)
    for each, value in ((module, 1), (other, 2)):
        space.parallel_for(2, each.write_value, result)
        assert result.tolist() == [value, value]


def test_every_function_of_the_library_has_its_own_and_the_same_in_every_process():
    functions = set(library_functions())
    fingerprints = {each.fingerprint for each in functions}
    assert len(fingerprints) == len(functions) > 300
    code = """
        from tests.backends.language.test_check import library_functions
        print(*sorted({each.fingerprint for each in library_functions()}))
    """
    assert run_python(code, PYTHONHASHSEED="3").split() == sorted(fingerprints)


# signatures -----------------------------------------------------------------------------------


def facts(kernel: Kernel) -> list[object]:
    return [(each.name, each.kind, [*map(each.flat_name, each.flat_paths)])
            for each in kernel.signature]


def test_signatures_that_are_kept_are_those_that_a_check_finds(tmp_path, monkeypatch):
    monkeypatch.setenv("PORTPART_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cache_folder, "cache_folders", cache_folder.cache_folders.__wrapped__)
    kernels = [each for each in library_functions()
               if isinstance(each, Kernel) and each.function.__annotations__ and
               not each.static_places]
    assert len(kernels) > 100
    for each in kernels:
        found = each.check().signature
        signatures.keep(each.name, each.fingerprint, found)
        again = CheckedFunction(each.function, True, each._find)
        assert facts(again) == facts(each)
        assert again._found is None


def test_a_class_that_is_not_to_be_found_is_found_by_a_check(folder, monkeypatch):
    monkeypatch.setenv("PORTPART_CACHE_DIR", str(folder / "cache"))
    monkeypatch.setattr(cache_folder, "cache_folders", cache_folder.cache_folders.__wrapped__)
    assert len(facts(combine_of(TEXT, folder))) == 3  # the module is not in sys.modules
    assert not list((folder / "cache").glob("*"))


def test_a_second_process_reads_no_source():
    code = """
        import portpart
        from portpart.backends.language import check
        checked, find = [], check._findings
        check._findings = lambda *given: checked.append(given[0].__name__) or find(*given)
        ring = [(i, (i + 1) % 100) for i in range(100)]
        assert portpart.partition(ring, 4).cut == 4
        print(*checked)
    """
    run_python(code)
    assert run_python(code) == ""
    assert portpart.partition([(i, (i + 1) % 100) for i in range(100)], 4).cut == 4
