"""What the kernel language refuses, and how it says so: at import, with file, line and remedy."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import pkgutil
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from unittest import mock

import pytest

import portpart
from portpart.backends.language.kernels import CheckedFunction
from portpart.errors import KernelSyntaxError

HEADER = """\
import math

from portpart.backends.language import (
    atomic_add, device, int32, int64, kernel, lane, team_array, team_size, team_sum,
)

LIMIT = 10
NAMES = ["a", "b"]


def ordinary(x):
    return x


@device
def summed(x):
    return team_sum(x)


"""
FIRST_LINE = HEADER.count("\n") + 1

_numbers = itertools.count()


def load(folder: Path, source: str):
    """Import a module that holds the header and `source`."""
    path = folder / f"kernels_{next(_numbers)}.py"
    path.write_text(HEADER + source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    with mock.patch.object(sys, "dont_write_bytecode", True):
        spec.loader.exec_module(module)
    return module


def refusal(folder: Path, source: str) -> str:
    with pytest.raises(KernelSyntaxError) as caught:
        load(folder, source)
    return str(caught.value)


def assert_refused(folder: Path, source: str, line: int, problem: str, remedy: str) -> None:
    """The message names file:line, problem and remedy, and marks the piece of source."""
    message = refusal(folder, source)
    head, shown, marks = message.splitlines()
    assert f".py:{FIRST_LINE + line}: " in head
    assert problem in head
    assert remedy in head
    assert shown.strip() == source.splitlines()[line].strip()
    assert marks.strip("^ ") == ""
    assert "^" in marks


STATEMENTS = [
    ("a, b = 1, 2", "cannot be assigned to", "array[index]"),
    ("x = y = 1", "several targets", "one line per target"),
    ("x: int = 1", "AnnAssign", "kernel-language.md"),
    ("i = 1", "parameter 'i' is assigned to", "new name"),
    ("values.size = 3", "cannot be assigned to", "array[index]"),
    ("values[0:2] = 1", "no slices", "one integer"),
    ("values[0, 1] = 1", "no slices", "one integer"),
    ("values[0] **= 2", "operator Pow", "use + - *"),
    ("del values", "Delete", "kernel-language.md"),
    ("assert i > 0", "Assert", "kernel-language.md"),
    ("raise ValueError", "Raise", "kernel-language.md"),
    ("import math", "Import", "kernel-language.md"),
    ("global LIMIT", "Global", "kernel-language.md"),
    ("values[0]", "not used", "assign it"),
    ("i + 1", "not used", "assign it"),
    ("'a late string'", "not used", "assign it"),
    ("return i", "a kernel returns nothing", "in an array"),
    ("for x in values: pass", "must run over range", "range(start, stop, step)"),
    ("for x in range(1, 2, 3, 4): pass", "must run over range", "range(start, stop, step)"),
    ("for x, y in range(3): pass", "loop variable must be a name", "for x in range"),
    ("for i in range(3): pass", "parameter 'i' is assigned to", "new name"),
    ("with values: pass", "With", "kernel-language.md"),
    ("try: pass\n    finally: pass", "Try", "kernel-language.md"),
    ("def inner(): pass", "FunctionDef", "kernel-language.md"),
    ("class Inner: pass", "ClassDef", "kernel-language.md"),
    ("match i:\n        case 1: pass", "Match", "kernel-language.md"),
]

EXPRESSIONS = [
    ("i ** 2", "operator Pow", "use + - *"),
    ("i @ i", "operator MatMult", "use + - *"),
    ("0 < i < 3", "chained comparison", "a < b and b < c"),
    ("values is None", "comparison is outside", "value_or"),
    ("i in values", "comparison is outside", "value_or"),
    ("values[i:]", "no slices", "one integer"),
    ("LIMIT[0]", "only a parameter can be indexed", "pass the array"),
    ("NAMES", "'NAMES' is not a number", "pass it as an argument"),
    ("missing + 1", "name 'missing' is not known", "define or import"),
    ("missing(i)", "name 'missing' is not known", "define or import"),
    ("'text'", "not a number", "use numbers only"),
    ("None", "not a number", "use numbers only"),
    ("1j", "not a number", "use numbers only"),
    ("2 ** 1", "operator Pow", "use + - *"),
    ("18446744073709551616", "beyond 64 bits", "smaller constant"),
    ("ordinary(i)", "not a device function", "@device"),
    ("len(values)", "not a device function", "@device"),
    ("values.sum()", "only plain names can be called", "by name"),
    ("values.size", "Attribute", "kernel-language.md"),
    ("LIMIT.real", "Attribute", "kernel-language.md"),
    ("math.nothing", "module 'math' has no 'nothing'", "define it there"),
    ("math.floor", "'math.floor' is not a number", "pass it as an argument"),
    ("math.floor(i)", "is not a device function or a kernel word", "decorate it"),
    ("math + 1", "'math' is not a number", "pass it as an argument"),
    ("min(i, key=1)", "keyword and starred", "by position"),
    ("min(*values)", "keyword and starred", "by position"),
    ("(i, i)", "Tuple", "kernel-language.md"),
    ("[i]", "List", "kernel-language.md"),
    ("{i: i}", "Dict", "kernel-language.md"),
    ("[x for x in range(3)]", "ListComp", "kernel-language.md"),
    ("lambda: i", "Lambda", "kernel-language.md"),
    ("(y := i)", "NamedExpr", "kernel-language.md"),
    ("f'{i}'", "JoinedStr", "kernel-language.md"),
    ("(yield i)", "Yield", "kernel-language.md"),
]


@pytest.mark.parametrize(("statement", "problem", "remedy"), STATEMENTS,
                         ids=[s.splitlines()[0] for s, *_ in STATEMENTS])
def test_statement_is_refused(tmp_path, statement, problem, remedy):
    source = f"@kernel\ndef f(i, values):\n    values[i] = 0\n    {statement}\n"
    assert_refused(tmp_path, source, 3, problem, remedy)


@pytest.mark.parametrize(("expression", "problem", "remedy"), EXPRESSIONS,
                         ids=[e for e, *_ in EXPRESSIONS])
def test_expression_is_refused(tmp_path, expression, problem, remedy):
    source = f"@kernel\ndef f(i, values):\n    x = 1\n    x = {expression}\n"
    assert_refused(tmp_path, source, 3, problem, remedy)


@pytest.mark.parametrize("loop", ["for x in range(3):", "while values[0] < 3:"])
def test_loop_else_is_refused(tmp_path, loop):
    source = f"@kernel\ndef f(i, values):\n    {loop}\n        pass\n    else:\n        pass\n"
    assert_refused(tmp_path, source, 5, "a loop has no else", "use a flag")


@pytest.mark.parametrize("parameters", ["i, *rest", "i, **rest", "i, x=1", "i, *, x", "i, /, x"])
def test_only_plain_parameters(tmp_path, parameters):
    source = f"@kernel\ndef f({parameters}):\n    pass\n"
    assert_refused(tmp_path, source, 1, "only plain parameters", "without defaults")


def test_kernel_needs_a_work_index(tmp_path):
    assert_refused(tmp_path, "@kernel\ndef f():\n    pass\n", 1, "work index", "def name(i, ...)")


@pytest.mark.parametrize("word", ["lane()", "team_sum(i)", "summed(i)"])
def test_kernel_with_team_words_must_not_return_early(tmp_path, word):
    source = ("@kernel\ndef f(i, values):\n    if i == 3:\n        return\n"
              f"    values[i] = {word}\n")
    assert_refused(tmp_path, source, 3, "must not return early", "under an if")


UNASSIGNED = {
    "one branch": "if i > 0:\n        x = 1\n    values[i] = x",
    "a loop that may not run": "for j in range(i):\n        x = j\n    values[i] = x",
    "the loop variable afterwards": "for x in range(i):\n        pass\n    values[i] = x",
    "itself": "values[i] = 0\n    x = 1 if i == 0 else x",
    "augmented": "values[i] = 0\n    values[i] = 0\n    x += 1",
    "in a while test": "values[i] = 0\n    values[i] = 1\n    while x > 0:\n        x = 1",
}


@pytest.mark.parametrize("body", UNASSIGNED.values(), ids=UNASSIGNED)
def test_variable_must_have_a_value(tmp_path, body):
    message = refusal(tmp_path, f"@kernel\ndef f(i, values):\n    {body}\n")
    assert "'x' may be used before it has a value" in message
    assert "assign it on every path first" in message


ASSIGNED = {
    "both branches": "if i > 0:\n        x = 1\n    else:\n        x = 2\n    values[i] = x",
    "the other branch leaves": "if i > 0:\n        return\n    else:\n        x = 2\n"
                               "    values[i] = x",
    "a loop body that continues": "for j in range(3):\n        if j == 1:\n            continue\n"
                                  "        x = j\n        values[i] = x",
    "before a loop": "x = 0\n    while x < 3:\n        x += 1\n    values[i] = x",
}


@pytest.mark.parametrize("body", ASSIGNED.values(), ids=ASSIGNED)
def test_variable_with_a_value_on_every_path_is_accepted(tmp_path, body):
    assert load(tmp_path, f"@kernel\ndef f(i, values):\n    {body}\n").f.name == "f"


def test_indented_kernels_are_marked_at_their_column(tmp_path):
    source = "if True:\n    @kernel\n    def f(i, values):\n        values[i] = 'x'\n"
    _, shown, marks = refusal(tmp_path, source).splitlines()
    assert shown[marks.index("^"):marks.rindex("^") + 1] == "'x'"


def test_lambdas_and_builtins_are_refused(tmp_path):
    assert "def" in refusal(tmp_path, "f = kernel(lambda i: i)\n")
    assert "def" in refusal(tmp_path, "f = kernel(len)\n")
    assert "def" in refusal(tmp_path, "@kernel\nasync def f(i, values):\n    pass\n")


def test_kernel_without_source_is_refused():
    scope: dict[str, object] = {}
    text = "from portpart.backends.language import kernel\n@kernel\ndef f(i, values): pass\n"
    with pytest.raises(KernelSyntaxError, match="source"):
        exec(text, scope)


OPTIONAL = {"torch", "torch_geometric", "mpi4py"}
"""Modules that import these are for those who have them, and hold no kernels."""


def library_functions() -> Iterator[CheckedFunction]:
    """Kernels and device functions of all modules of the library."""
    for found in pkgutil.walk_packages(portpart.__path__, "portpart."):
        if not found.name.endswith("__main__"):
            try:
                module = importlib.import_module(found.name)
            except ModuleNotFoundError as problem:
                if problem.name not in OPTIONAL:
                    raise
                continue
            for value in vars(module).values():
                if isinstance(value, CheckedFunction):
                    yield value


def test_kernels_of_the_library_are_inside_the_language():
    """They are not checked at import, so that starting takes no longer than it has to."""
    kernels = list(library_functions())
    assert len(kernels) > 300
    for each in kernels:
        if not each.static_places:  # templates are checked with the values of launches
            each.check()


def load_as_library(path: Path, text: str):
    """A module of that text; bytecode of another text of the same second is not to be found."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(f"portpart.{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    with mock.patch.object(sys, "dont_write_bytecode", True):
        spec.loader.exec_module(module)
    return module


def test_kernels_of_the_library_are_checked_when_they_are_used(tmp_path):
    module = load_as_library(tmp_path / "late.py", HEADER + "@kernel\ndef f(i, a):\n    print(i)\n")
    with pytest.raises(KernelSyntaxError, match="print"):
        module.f.check()


def test_threads_may_use_kernels_of_the_library_for_the_first_time(tmp_path):
    """A check goes on to the functions that are called, while others ask for these."""
    text = HEADER + "@device\ndef f(x):\n    return x + 1\n\n\n" + "".join(
        f"@kernel\ndef g{i}(i, a):\n    a[i] = f(i)\n\n\n" for i in range(4))
    for turn in range(40):
        module = load_as_library(tmp_path / f"late{turn}.py", text)
        asked = [partial(getattr, function, name)
                 for function in (module.g0, module.f, module.g1, module.g2, module.g3)
                 for name in ("tree", "signature", "takes_records", "fingerprint")]
        threads = [threading.Thread(target=each, daemon=True) for each in asked]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
        assert not any(thread.is_alive() for thread in threads)
        assert module.g0.references["f"] is module.f


def test_a_file_that_has_changed_since_it_was_imported_is_not_read(tmp_path):
    path = tmp_path / "late.py"
    module = load_as_library(path, HEADER + "@kernel\ndef f(i, a):\n    a[i] = 1\n")
    path.write_text(HEADER + "@kernel\ndef f(i, a):\n    a[i] = 22\n")
    with pytest.raises(KernelSyntaxError, match="has changed since it was imported"):
        module.f.check()
