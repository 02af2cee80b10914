"""Every term of docs/glossary.md has a short text, a file that exists and names that it defines."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.helpers.sources import nodes_of, tree_of

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
SECTIONS = GLOSSARY.read_text().split("\n## ")[1:]
ENTRY = re.compile(r"(?P<term>.+)\n\n(?P<text>(?:.+\n)+)\n`(?P<file>\S+\.py)`: (?P<names>.+)\n")
HOW_MANY = 60
MAX_WORDS = 45


@cache
def defined_in(path: Path) -> set[str]:
    """Names of functions, classes, methods, fields and variables that a file defines."""
    names = set()
    for node in nodes_of(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def test_terms_are_sorted_and_stand_once() -> None:
    terms = [section.partition("\n")[0].casefold() for section in SECTIONS]
    assert terms == sorted(set(terms))
    assert len(terms) >= HOW_MANY


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.partition("\n")[0])
def test_entry_is_short_and_its_names_are_in_the_code(section: str) -> None:
    entry = ENTRY.fullmatch(section.rstrip("\n") + "\n")
    assert entry is not None, "a term, a paragraph, and `file.py`: `name`, `name`"
    assert len(entry["text"].split()) <= MAX_WORDS
    assert len(re.findall(r"\.(\s|$)", entry["text"])) <= 2, "one or two sentences"
    path = ROOT / "portpart" / entry["file"]
    assert path.is_file(), f"no file {entry['file']}"
    names = re.findall("`([^`]+)`", entry["names"])
    assert names
    missing = set(names) - defined_in(path)
    assert not missing, f"{entry['file']} does not define {sorted(missing)}"
