"""Pieces own their state: kernels name the records that they use, and scopes hold no more."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

import pytest

from tests.test_layers import PACKAGE

MOST_RECORDS = 8
"""In a scope."""

MOST_WORDS = 17
"""That one record declares."""

MARKS = {"kernel", "device"}
TREES = {path: ast.parse(path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))}
CLASSES = {node.name: node for tree in TREES.values() for node in ast.walk(tree)
           if isinstance(node, ast.ClassDef)}


def names_of(nodes: list[ast.expr]) -> set[str]:
    return {ast.unparse(node).split("(")[0].split(".")[-1] for node in nodes}


COMPILED = [node for tree in TREES.values() for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and names_of(node.decorator_list) & MARKS]
FIELDS = {name: [field.target.id for field in node.body if isinstance(field, ast.AnnAssign)
                 and isinstance(field.target, ast.Name)]
          for name, node in CLASSES.items() if "Scope" in names_of(node.bases)}


def parameters(function: ast.FunctionDef) -> dict[str, str]:
    """The classes of records that parameters are annotated with."""
    return {each.arg: ast.unparse(each.annotation) for each in function.args.args
            if each.annotation is not None}


def takers(scope: str) -> Iterator[tuple[ast.FunctionDef, str]]:
    """Compiled functions that take a scope, and what they call it."""
    for function in COMPILED:
        for name, kind in parameters(function).items():
            if kind == scope:
                yield function, name


@cache
def fields_used(scope: str) -> frozenset[str]:
    """Fields that those who take a scope read, or pass on in a scope or to a static function."""
    found = set()
    for function, name in takers(scope):
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == name:
                found.add(node.attr)
            if isinstance(node, ast.Call) and name in map(ast.unparse, node.args):
                found |= fields_passed(node, scope)
    return frozenset(found)


def fields_passed(call: ast.Call, scope: str) -> set[str]:
    """Fields of the scope that a called function takes; of a static one those of any that fits."""
    named = ast.unparse(call.func)
    called = [each for each in COMPILED if each.name == named]
    kinds = {kind for each in called for kind in parameters(each).values()} if called else FIELDS
    return {field for kind in kinds if kind in FIELDS and kind != scope
            and set(FIELDS[kind]) <= set(FIELDS[scope]) for field in fields_used(kind)}


def test_no_function_takes_a_record_of_all_others() -> None:
    holders = {name for name, node in CLASSES.items() if len(
        [field for field in node.body if isinstance(field, ast.AnnAssign)
         and ast.unparse(field.annotation) in CLASSES]) > MOST_RECORDS}
    assert "Run" in holders
    taking = [each.name for each in COMPILED if holders & set(parameters(each).values())]
    assert taking == []


@pytest.mark.parametrize("scope", FIELDS)
def test_a_scope_holds_what_its_functions_use(scope: str) -> None:
    assert len(FIELDS[scope]) <= MOST_RECORDS
    assert set(FIELDS[scope]) - fields_used(scope) == set()


def test_records_have_few_words() -> None:
    declared = {}
    for name, node in ((f"{path.stem}.{node.name}", node) for path, tree in TREES.items()
                       for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        fields = [field for field in node.body if isinstance(field, ast.AnnAssign)]
        made = [field for field in fields if field.value is not None
                and ast.unparse(field.value).endswith("word()")]
        if "Words" in names_of(node.bases) or made:
            declared[name] = len(made or fields)
    assert {"state.Rebalancing", "figures.Figures", "edits.Counts"} <= declared.keys()
    assert {name for name, count in declared.items() if count > MOST_WORDS} == set()
