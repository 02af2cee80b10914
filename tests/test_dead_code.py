"""Nothing is in the package that only tests or benchmarks use."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "portpart"

COMMANDS = {"command"}
"""What `portpart.cli` finds in the module of a command."""

WORD = re.compile(r"\w+")


def defined(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a module defines at its top."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def exported(tree: ast.Module) -> set[str]:
    """Return the names in ``__all__``."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def test_every_name_is_used_in_the_package_or_public() -> None:
    texts = {path: path.read_text() for path in PACKAGE.rglob("*.py")}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    public = COMMANDS.union(*map(exported, trees.values()))
    uses = Counter(word for text in texts.values() for word in WORD.findall(text))
    unused = [f"{path.relative_to(PACKAGE)}: {name}" for path, tree in trees.items()
              for name in defined(tree)
              if uses[name] == 1 and name not in public and not name.startswith("__")]
    assert not unused
