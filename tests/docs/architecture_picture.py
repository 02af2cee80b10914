"""The picture of docs/architecture.md: what a partition and a session use, part by part.

    python -m tests.docs.architecture_picture

draws it anew from the imports of the code and the layers of tests/test_layers.py.  A box is a
folder, or modules that have a layer of their own; a line leads down to what is imported.  Lines
that follow from others are left out.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections import defaultdict
from html import escape
from itertools import pairwise
from pathlib import Path

from tests.helpers.sources import tree_of
from tests.test_layers import MODULES, PACKAGE, own_imports, unit_of

PICTURE = PACKAGE.parent / "docs" / "architecture.svg"
STARTS = [PACKAGE / "api" / "partition_call.py", PACKAGE / "sessions" / "session.py"]

WIDTH, HEIGHT = 215, 66
PASSING = 30
"""Width of a line that passes a row of boxes."""
GAP_X, GAP_Y = 14, 28
LETTERS = 34
SWEEPS = 8

Lines = dict[str, set[str]]
Place = tuple[str, int]
"""A box and its row, or a line and a row that it passes."""


def box_of(path: Path) -> str:
    """Return the box of a file: a part of the house."""
    unit = unit_of(path)
    folder = unit.rpartition("/")[0]
    return f"{folder}/" if folder else unit


def lines_between_boxes() -> Lines:
    """Whom each box imports, but for lines that follow from others."""
    used: Lines = defaultdict(set)
    files = list(STARTS)
    for path in files:
        used[box_of(path)] |= {box_of(file) for file, _ in own_imports(path)} - {box_of(path)}
        files += sorted({file for file, _ in own_imports(path)} - set(files))
    below = {box: _below(box, used) for box in used}
    return {box: {each for each in boxes if not any(each in below[other] for other in boxes)}
            for box, boxes in used.items()}


def _below(box: str, used: Lines) -> set[str]:
    return used[box].union(*(_below(each, used) for each in used[box]))


def rows_of(lines: Lines) -> dict[str, int]:
    """Return the row of each box: right above what it uses; if that is nothing, below its users."""
    depth: dict[str, int] = {}

    def depth_of(box: str) -> int:
        if box not in depth:
            depth[box] = 1 + max(map(depth_of, lines[box]), default=-1)
        return depth[box]

    last = max(map(depth_of, lines))
    users = {box: [each for each in lines if box in lines[each]] for box in lines}
    return {box: last - depth[box] if depth[box] else 1 + last - min(map(depth_of, users[box]))
            for box in lines}


def way(box: str, other: str, row: dict[str, int]) -> list[Place]:
    """Return the places from a box to one that it uses: in rows between them the line itself."""
    between = [(f"{box} - {other}", passed) for passed in range(row[box] + 1, row[other])]
    return [(box, row[box]), *between, (other, row[other])]


def in_order(lines: Lines, row: dict[str, int]) -> list[list[Place]]:
    """Return the places of each row, in an order in which few lines cross."""
    rows: list[list[Place]] = [[] for _ in range(max(row.values()) + 1)]
    beside: dict[Place, set[Place]] = defaultdict(set)
    for box, number in sorted(row.items()):
        rows[number].append((box, number))
    for box, used in sorted(lines.items()):
        for upper, lower in (step for other in sorted(used) for step in pairwise(
                way(box, other, row))):
            beside[upper].add(lower)
            beside[lower].add(upper)
            if lower not in rows[lower[1]]:
                rows[lower[1]].append(lower)
    for sweep in range(SWEEPS):
        for fixed, moved in pairwise(rows if sweep % 2 == 0 else rows[::-1]):
            share = {place: (i + 0.5) / len(fixed) for i, place in enumerate(fixed)}
            means = {place: _mean([share[other] for other in beside[place] if other in share])
                     for place in moved}
            moved.sort(key=means.__getitem__)
    return rows


def _mean(shares: list[float]) -> float:
    return round(sum(shares) / len(shares), 6) if shares else 0.5


def positions(rows: list[list[Place]], lines: Lines) -> dict[Place, tuple[int, int]]:
    """Return the middle of each place, every row around the same axis."""
    at = {}
    for number, row in enumerate(rows):
        widths = [WIDTH if box in lines else PASSING for box, _ in row]
        x = -(sum(widths) + GAP_X * (len(row) - 1)) // 2
        for place, width in zip(row, widths):
            at[place] = (x + width // 2, number * (HEIGHT + GAP_Y) + HEIGHT // 2 + GAP_Y // 2)
            x += width + GAP_X
    return at


def described(box: str, lines: Lines) -> str:
    """Return how the docstring of a box begins; if another box has it, the modules of this one."""
    files = [path for path in MODULES if box_of(path) == box]
    folder = PACKAGE / box.removesuffix("/") / "__init__.py"
    own = folder if folder.exists() and box_of(folder) not in lines.keys() - {box} else files[0]
    if len(files) > 1 and own != folder:
        return ", ".join(path.stem for path in files)
    text = ast.get_docstring(tree_of(own)) or ""
    return " ".join(re.split("[.:;]|\n\n", text)[0].split())


def picture() -> str:
    """Return the drawing, as SVG."""
    lines = lines_between_boxes()
    row = rows_of(lines)
    at = positions(in_order(lines, row), lines)
    left = min(x for x, _ in at.values()) - WIDTH // 2 - GAP_X
    width = max(x for x, _ in at.values()) + WIDTH // 2 + GAP_X - left
    height = (max(row.values()) + 1) * (HEIGHT + GAP_Y)
    drawn = [_line([at[place] for place in way(box, other, row)])
             for box, used in sorted(lines.items()) for other in sorted(used)]
    drawn += [_box(box, described(box, lines), *at[box, number])
              for box, number in sorted(row.items())]
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left} 0 {width} {height}" '
            f'width="{width}" height="{height}" font-family="sans-serif" text-anchor="middle">')
    paper = f'<rect x="{left}" width="{width}" height="{height}" fill="white"/>'
    return "\n".join([head, paper, *drawn, "</svg>", ""])


def _line(places: list[tuple[int, int]]) -> str:
    """Draw a line from the lower side of the first place to the upper side of the last."""
    points = [(x, y + side * HEIGHT // 2) for x, y in places for side in (-1, 1)][1:-1]
    return (f'<polyline points="{" ".join(f"{x},{y}" for x, y in points)}" '
            'fill="none" stroke="#666"/>')


def _box(box: str, text: str, x: int, y: int) -> str:
    """Draw a box with its name and what is in it."""
    said = textwrap.wrap(text, LETTERS)
    first = y + 5 - 7 * len(said)
    name = box.partition(" ")[0] if "," in box else box.replace(" ", "")
    texts = [f'<text x="{x}" y="{first}" font-size="13" font-weight="bold">{escape(name)}</text>']
    texts += [f'<text x="{x}" y="{first + 15 * (i + 1)}" font-size="11">{escape(line)}</text>'
              for i, line in enumerate(said)]
    frame = (f'<rect x="{x - WIDTH // 2}" y="{y - HEIGHT // 2}" width="{WIDTH}" '
             f'height="{HEIGHT}" rx="6" fill="#eef3fb" stroke="#3b5b92"/>')
    return "\n".join([frame, *texts])


def main() -> None:
    """Draw the picture anew."""
    PICTURE.write_text(picture())


if __name__ == "__main__":
    main()
