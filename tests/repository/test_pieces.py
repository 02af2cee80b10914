"""Pieces own their state: kernels name the records that they use, and scopes hold no more."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from tests.helpers.sources import nodes_of, trees

MOST_RECORDS = 8
"""In a scope."""

MOST_WORDS = 17
"""That one record declares."""

MARKS = {"kernel", "device"}


@cache
def classes() -> dict[str, ast.ClassDef]:
    """All classes of the package."""
    return {node.name: node for tree in trees().values() for node in nodes_of(tree)
            if isinstance(node, ast.ClassDef)}


def names_of(nodes: list[ast.expr]) -> set[str]:
    return {ast.unparse(node).split("(")[0].split(".")[-1] for node in nodes}


@cache
def compiled() -> list[ast.FunctionDef]:
    """All kernels, and the functions that they call."""
    return [node for tree in trees().values() for node in nodes_of(tree)
            if isinstance(node, ast.FunctionDef) and names_of(node.decorator_list) & MARKS]


@cache
def scopes() -> dict[str, list[str]]:
    """The fields of each scope."""
    return {name: [field.target.id for field in node.body if isinstance(field, ast.AnnAssign)
                   and isinstance(field.target, ast.Name)]
            for name, node in classes().items() if "Scope" in names_of(node.bases)}


def parameters(function: ast.FunctionDef) -> dict[str, str]:
    """The classes of records that parameters are annotated with."""
    return {each.arg: ast.unparse(each.annotation) for each in function.args.args
            if each.annotation is not None}


def takers(scope: str) -> Iterator[tuple[ast.FunctionDef, str]]:
    """Compiled functions that take a scope, and what they call it."""
    for function in compiled():
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
    called = [each for each in compiled() if each.name == named]
    kinds = {kind for each in called for kind in parameters(each).values()} if called else scopes()
    return {field for kind in kinds if kind in scopes() and kind != scope
            and set(scopes()[kind]) <= set(scopes()[scope]) for field in fields_used(kind)}


def test_no_function_takes_a_record_of_all_others() -> None:
    holders = {name for name, node in classes().items() if len(
        [field for field in node.body if isinstance(field, ast.AnnAssign)
         and ast.unparse(field.annotation) in classes()]) > MOST_RECORDS}
    assert "Run" in holders
    taking = [each.name for each in compiled() if holders & set(parameters(each).values())]
    assert taking == []


def test_a_scope_holds_what_its_functions_use() -> None:
    assert scopes()
    assert {scope for scope, fields in scopes().items() if len(fields) > MOST_RECORDS} == set()
    assert {(scope, field) for scope, fields in scopes().items()
            for field in set(fields) - fields_used(scope)} == set()


def test_records_have_few_words() -> None:
    declared = {}
    for name, node in ((f"{path.stem}.{node.name}", node) for path, tree in trees().items()
                       for node in nodes_of(tree) if isinstance(node, ast.ClassDef)):
        fields = [field for field in node.body if isinstance(field, ast.AnnAssign)]
        made = [field for field in fields if field.value is not None
                and ast.unparse(field.value).endswith("word()")]
        if "Words" in names_of(node.bases) or made:
            declared[name] = len(made or fields)
    assert {"state.Rebalancing", "options.Figures", "edits.EditCounts"} <= declared.keys()
    assert {name for name, count in declared.items() if count > MOST_WORDS} == set()
