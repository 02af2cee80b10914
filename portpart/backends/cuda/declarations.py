"""C++ variables: their names, and the innermost blocks for their declarations."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from portpart.backends.language.kernels import TypedFunction

# The C++ declaration of each variable is in the innermost block that can hold it ---------------
#
# Python's variables belong to the function, C++'s to a block. A block can hold a variable if the
# variable is assigned there before any other use; several blocks may each hold their own.


class Places:
    """Places the declarations of one function's variables."""

    def __init__(self, typed: TypedFunction) -> None:
        self.typed = typed

    def split(self, live: list[ast.stmt],
              pending: set[str]) -> tuple[list[list[str]], list[set[str]]]:
        """Return for each statement the variables declared before it, and those it can hold inside.

        `live` are the statements of one block, `pending` the variables that only they mention.
        """
        front: list[list[str]] = [[] for _ in live]
        inner: list[set[str]] = [set() for _ in live]
        mentions = [pending & mentioned(node) for node in live]
        for name in self.typed.variables:
            users = [i for i, names in enumerate(mentions) if name in names]
            if not users:
                continue
            if self._inside(name, [live[i] for i in users]):
                for i in users:
                    inner[i].add(name)
            else:
                front[users[0]].append(name)
        return front, inner

    def _inside(self, name: str, users: list[ast.stmt]) -> bool:
        """Whether `name` can be declared inside the statements that mention it."""
        if len(users) == 1:
            return self._passes_on(users[0], name)
        return not assigns(users[0], name) and all(self._holds(node, name) for node in users)

    def _passes_on(self, node: ast.stmt, name: str) -> bool:
        """Whether only blocks inside `node` mention `name`, or it is a loop over `name`."""
        if isinstance(node, ast.For):
            if name in mentioned(node.target):
                stored = any(_stores(child, name) for child in node.body)
                return not stored and name not in mentioned(node.iter)
            return name not in mentioned(node.iter)
        return isinstance(node, (ast.If, ast.While)) and name not in mentioned(node.test)

    def _holds(self, node: ast.stmt, name: str) -> bool:
        """Whether only blocks inside `node` mention `name`, and each assigns it first."""
        if not self._passes_on(node, name):
            return False
        if isinstance(node, ast.For) and name in mentioned(node.target):
            return True
        assert isinstance(node, (ast.For, ast.If, ast.While))
        return self._block_holds(node.body, name) and self._block_holds(node.orelse, name)

    def _block_holds(self, statements: list[ast.stmt], name: str) -> bool:
        users = [node for node in self.typed.live(statements) if name in mentioned(node)]
        if users and assigns(users[0], name):
            return True
        return all(self._holds(node, name) for node in users)


@lru_cache(maxsize=1 << 16)
def mentioned(node: ast.AST) -> frozenset[str]:
    """Return the names that occur in `node`; cached, since functions are written for many types."""
    return frozenset(_names(node))


def _names(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield from mentioned(child)
        else:
            yield from _names(child)
    if isinstance(node, ast.Name):
        yield node.id


def assigns(node: ast.stmt, name: str) -> bool:
    """Whether `node` is the plain assignment ``name = ...``."""
    if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
        return False
    return node.targets[0].id == name


def _stores(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(child, ast.Name) and child.id == name and isinstance(child.ctx, ast.Store)
        for child in ast.walk(node)
    )


# C++ names for the names of a kernel: equal, unless C++ or our prelude uses them ---------------


_RESERVED = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
    char32_t class compl concept const consteval constexpr constinit const_cast continue co_await
    co_return co_yield decltype default delete do double dynamic_cast else enum explicit export
    extern false final float for friend goto if import inline int long module mutable namespace new
    noexcept not not_eq nullptr operator or or_eq override private protected public register
    reinterpret_cast requires return short signed sizeof static static_assert static_cast struct
    switch template this thread_local throw true try typedef typeid typename typeof union unsigned
    using virtual void volatile wchar_t while xor xor_eq
    int8 int32 int64 uint8 uint32 uint64 float32 float64 pp std main TEAM body item row count
    threadIdx blockIdx blockDim gridDim warpSize NULL own_block
    """.split()
)


class NameTable:
    """Gives every Python name a distinct C++ name."""

    def __init__(self, reserved: frozenset[str] = frozenset()) -> None:
        self._given: dict[str, str] = {}
        self._taken = set(_RESERVED | reserved)

    def __call__(self, name: str, preferred: str | None = None) -> str:
        """Return the C++ name of `name`, always the same; similar to `preferred` if given."""
        if name not in self._given:
            self._given[name] = self.fresh(preferred or name)
        return self._given[name]

    def fresh(self, preferred: str) -> str:
        """Return an unused C++ name similar to `preferred`."""
        text = re.sub(r"[^0-9A-Za-z_]", lambda match: f"u{ord(match[0]):x}", preferred)
        text = re.sub("__+", "_", text)
        if re.match("_[A-Z]", text):
            text = f"v{text}"
        while text in self._taken:
            text += "_"
        self._taken.add(text)
        return text
