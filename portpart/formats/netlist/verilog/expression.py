"""Expressions of an instance or an ``assign``: nets, their bits and parts, constants, ``{}``."""

from __future__ import annotations

from portpart.errors import shown
from portpart.formats.netlist.verilog.module import CONSTANT, MAX_WIDTH, Module
from portpart.formats.netlist.verilog.tokens import Tokens, identifier

UNSIZED_WIDTH = 32
"""Number of bits of a constant without a width."""


def nets_of_expression(tokens: Tokens, module: Module) -> list[int]:
    """Return the nets of the expression at the current token, the most significant first."""
    if tokens.kind == "number":
        return _constant(tokens)
    if tokens.take("{"):
        return _concatenation(tokens, module)
    position = tokens.position
    name = tokens.name("a net, a constant or '{'")
    if tokens.text == "[":
        return _part(tokens, module, name, *range_at(tokens), position)
    return module.whole(name)


def nets_of_text(tokens: Tokens, module: Module, text: str) -> list[int]:
    """Return the nets of a plain connection in a list: ``a``, ``a[3]`` or an escaped name."""
    if text[0] == "\\":
        return module.whole(identifier(text))
    name, _, index = text.partition("[")
    if not index:
        return module.whole(name)
    at = int(index[:-1])
    return _part(tokens, module, name, at, at, tokens.position)


def range_at(tokens: Tokens) -> tuple[int, int]:
    """Return ``[7:0]`` or ``[3]`` at the current token, which is the bracket."""
    tokens.expect("[")
    left = tokens.integer("an index, a plain number")
    right = tokens.integer("an index, a plain number") if tokens.take(":") else left
    tokens.expect("]")
    return left, right


def fitted(nets: list[int], width: int) -> list[int] | None:
    """Return `nets` with `width` bits; constants fit any width, others only their own."""
    if len(nets) == width:
        return nets
    return None if any(nets) else [CONSTANT] * width


def _constant(tokens: Tokens) -> list[int]:
    size, quote, _ = tokens.text.partition("'")
    width = int(size) if quote and size.strip() else UNSIZED_WIDTH
    if not 0 < width <= MAX_WIDTH:
        tokens.refuse(f"a constant of {width} bits")
    tokens.advance()
    return [CONSTANT] * width


def _concatenation(tokens: Tokens, module: Module) -> list[int]:
    """Return the nets of ``{a, b}`` or ``{2{a, b}}`` after its first brace."""
    if tokens.kind == "number" and tokens.text.isdigit():
        position = tokens.position
        times = tokens.integer("a number of repetitions")
        tokens.expect("{")
        once = _concatenation(tokens, module)
        tokens.expect("}")
        if times * len(once) > MAX_WIDTH:
            tokens.refuse(f"more than {MAX_WIDTH} bits", position)
        return once * times
    nets = [net for _ in tokens.listed() for net in nets_of_expression(tokens, module)]
    tokens.expect("}")
    return nets


def _part(tokens: Tokens, module: Module, name: str, left: int, right: int,
          position: int) -> list[int]:
    """Return the nets of ``name[left:right]``, checked against the declaration."""
    span = module.vectors.get(name)
    if span is None:
        tokens.refuse(f"{shown(name)} is not declared as a vector above this line", position)
    low, high = min(span), max(span)
    if not (low <= left <= high and low <= right <= high):
        tokens.refuse(f"{name}[{left if not low <= left <= high else right}] is outside of "
                      f"[{span[0]}:{span[1]}]", position)
    if left != right and (left > right) != (span[0] > span[1]):
        tokens.refuse(f"{name}[{left}:{right}] runs against [{span[0]}:{span[1]}]", position)
    return module.part(name, left, right)
