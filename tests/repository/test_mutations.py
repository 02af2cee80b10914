"""What `make mutants` draws: lines that do something, changed in one place, the same each time."""

from __future__ import annotations

import ast
import shutil
from itertools import islice
from pathlib import Path

import pytest

from tests.backends.expressions_in_both import load_module
from tests.repository import mutants
from tests.repository.mutations import drawn, mutations_of

ROOT = Path(__file__).resolve().parents[2]

LEFT_ALONE = '''
"""A docstring: 1 < 2."""
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import numpy

def work(a: tuple[int, 1], b: str = "1 + 1") -> tuple[int, 2]:
    """Return a + 1."""
    assert a, "a < 1"
    warnings.warn(f"{a + 1} < {b}")
    raise ValueError(1 + 1)
'''


def test_what_people_and_type_checkers_read_is_left_alone():
    assert mutations_of(LEFT_ALONE.encode(), "file.py") == []


@pytest.mark.parametrize(("line", "changed"), [
    ("x = a < b", {"x = a <= b", "x = a >= b"}),
    ("x = a is not b", {"x = a is b"}),
    ("x = (a) + (b)", {"x = (a) - (b)"}),
    ("a += b", {"a -= b", "pass"}),
    ("x = a and b", {"x = a or b"}),
    ("x = -a", {"x = a"}),
    ("x = 7", {"x = 8", "x = 6"}),
    ("x = True", {"x = False"}),
    ("x = 0.5", {"x = 1.0"}),
    ("x = max(a, b)", {"x = min(a, b)", "x = max(b, a)"}),
    ("f(a)", {"pass"}),
    ("x[i] = y", {"pass"}),
    ("if a: x = y", {"if not (a): x = y"}),
    ("x = y if a else z", {"x = y if not (a) else z"}),
])
def test_a_change_is_small_and_of_one_line(line, changed):
    source = f"def work(a, b):\n    {line}\n    return None\n".encode()
    found = mutations_of(source, "file.py")
    assert {each.shown(source)[1] for each in found} == changed
    for each in found:
        ast.parse(each.applied(source))


def test_drawing_repeats_itself_and_takes_each_line_once(tmp_path):
    for name in ("algorithms/recipes/gkway.py", "algorithms/edits/batch.py", "api/migration.py"):
        (tmp_path / "portpart" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "portpart" / name, tmp_path / "portpart" / name)
    first, again = (list(islice(drawn(tmp_path, 1), 200)) for _ in range(2))
    assert first == again
    assert len({(each.file, each.line) for each in first}) == len(first) > 100
    assert list(islice(drawn(tmp_path, 2), 200)) != first
    for each in first:
        source = (ROOT / each.file).read_bytes()
        assert each.applied(source) != source
        ast.parse(each.applied(source))


KERNEL = """
from portpart.backends.language import device, kernel

LIMIT = 3

@device
def least(i, j):
    return min(i + 1, j)

@kernel
def write_least(i, result):
    if i < LIMIT:
        result[i] = least(i, 2)
"""


def test_a_changed_kernel_is_compiled_anew(tmp_path):
    """So that no mutant runs what is kept of another."""
    source = KERNEL.encode()
    changed = [each.applied(source).decode() for each in mutations_of(source, "file.py")]
    kernels = [load_module(text, tmp_path).write_least for text in [KERNEL, *changed]]
    assert len(changed) > 8
    assert len({each.fingerprint for each in kernels}) == len(kernels)


def test_python_does_not_take_what_it_compiled_of_a_file_before(tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "COPY", tmp_path)
    cache = tmp_path / "__pycache__"
    cache.mkdir()
    (cache / "module.cpython-311.pyc").touch()
    (cache / "other.cpython-311.pyc").touch()
    mutants.write("module.py", b"x = 1\n")
    assert [path.name for path in cache.iterdir()] == ["other.cpython-311.pyc"]


@pytest.mark.parametrize(("module", "nearest"), [
    ("algorithms/coarsening/two_hop.py", "tests/algorithms/coarsening/test_two_hop"),
    ("algorithms/edits/batch.py", "tests/algorithms/edits/test_edit"),
    ("api/repartition_call.py", "tests/api/test_repartition"),
])
def test_nearest_tests_come_first_and_recorded_digests_last(module, nearest, monkeypatch):
    monkeypatch.setattr(mutants, "COPY", ROOT)
    near, recorded = mutants.tests_for(f"portpart/{module}")
    assert any(each.startswith(nearest) for each in near[:3])
    assert {Path(each).name.startswith("test_golden") for each in near} == {False}
    assert "tests/golden/test_golden_sessions.py" in recorded
