"""The tables of docs/algorithms that come from the table of algorithms.

    python -m tests.algorithm_pages

writes them anew, between the comments that mark them.  What a table of presets has besides (figures
that were measured) is kept for presets that are still there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from portpart.algorithms.catalogue import (
    Entry,
    Parameter,
    parameters_of,
    written,
    written_difference,
)
from portpart.algorithms.mappers import MAPPERS
from portpart.algorithms.multilevel.pool import StartOptions
from portpart.algorithms.partitioners import ALGORITHMS
from portpart.api.listing import DEFAULTS

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "algorithms"
OVERVIEW = FOLDER / "README.md"
MAPPING = FOLDER / "mapping.md"
STARTS = FOLDER / "starts.md"

GROWN = "grown"
"""Name of the field of configurations whose parameters stand on the page of starts."""

SECTIONS = ("When to choose it", "How it works", "Parameters", "Presets",
            "Where it differs from its sources", "Measured", "Memory", "Limitations")
"""What the page of an algorithm has, in this order."""

GREEK = {"gamma": "γ", "phi": "φ", "lambda": "λ", "sigma": "σ"}  # noqa: RUF001
NOT_MEASURED = "-"


def pages() -> Iterator[tuple[Path, str]]:
    """Every page with the text that it is to have."""
    measured = _measured(OVERVIEW.read_text())
    yield OVERVIEW, _filled(OVERVIEW, {
        "algorithms": lambda: algorithms(ALGORITHMS), "presets": lambda: presets(measured)})
    for algorithm in ALGORITHMS.values():
        page = FOLDER / f"{algorithm.name}.md"
        yield page, _filled(page, {
            "parameters": lambda each=algorithm: parameters(each),
            "presets": lambda each=algorithm: presets_of(each)})
    yield STARTS, _filled(STARTS, {"parameters": parameters_of_starts})
    yield MAPPING, _filled(MAPPING, {
        "algorithms": lambda: algorithms(MAPPERS), "presets": presets_of_mappers,
        **{f"parameters of {name}": lambda each=MAPPERS[name]: parameters(each)
           for name in ("hm", "im", "two-phase")}})


def algorithms(table: Mapping[str, Entry]) -> str:
    """One row for each algorithm."""
    return _table(["`algorithm=`", "what it does", "source"], (
        [f"{_linked(each)}{', the default' if each.name in DEFAULTS else ''}", each.purpose,
         each.source]
        for each in table.values()))


def _linked(algorithm: Entry) -> str:
    """The name, with a link to the page of the algorithm if it has one of its own."""
    name = f"`{algorithm.name}`"
    return f"[{name}]({algorithm.name}.md)" if algorithm.name in ALGORITHMS else name


def presets(measured: dict[tuple[str, str], list[str]]) -> str:
    """One row for each preset of each partitioner, with the figures that the page has."""
    head = ["algorithm", "preset"]
    extra = measured[("algorithm", "preset")]
    return _table(head + extra, (
        [f"[{each.title}]({each.name}.md)", f"`{preset}`",
         *measured.get((each.title, preset), [NOT_MEASURED] * len(extra))]
        for each in ALGORITHMS.values() for preset in each.presets))


def presets_of(algorithm: Entry) -> str:
    """One row for each preset."""
    return _table(["preset", "what it changes"], (
        [f"`{preset}`", _difference(algorithm, preset)] for preset in algorithm.presets))


def presets_of_mappers() -> str:
    """One row for each preset of each mapper."""
    return _table(["algorithm", "preset", "what it changes"], (
        [_linked(each), f"`{preset}`", _difference(each, preset)]
        for each in MAPPERS.values() for preset in each.presets))


def parameters(algorithm: Entry) -> str:
    """One row for each parameter, or for several that are explained together."""
    return _parameters([each for each in algorithm.parameters() if not _is_of_starts(each)],
                       [each for each in algorithm.parameters() if _is_of_starts(each)])


def parameters_of_starts() -> str:
    """The same for options of initial partitions, which all recipes share."""
    return _parameters(parameters_of(StartOptions(), {}), [])


def _is_of_starts(parameter: Parameter) -> bool:
    return GROWN in parameter.name.split(".")


def _parameters(listed: list[Parameter], of_starts: list[Parameter]) -> str:
    groups: dict[tuple[bool, str], list[Parameter]] = {}
    for each in listed:
        groups.setdefault(("." in each.name, each.meaning), []).append(each)
    rows = []
    for (_, meaning), alike in groups.items():
        symbols = dict.fromkeys(GREEK.get(each.symbol, each.symbol) for each in alike)
        rows.append([
            ", ".join(f"`{each.name}`" for each in alike),
            ", ".join(written(each.value) for each in alike),
            " ".join(filter(None, symbols)), meaning.replace("  ", " "),
        ])  # fmt: skip
    if of_starts:
        rows.append([f"`{GROWN}`", _beside_defaults(of_starts), "", f"[starts]({STARTS.name})"])
    return _table(["parameter", "default", "symbol", "meaning"], rows)


def _beside_defaults(of_starts: list[Parameter]) -> str:
    """What a recipe has other values of than initial partitions have by default."""
    usual = {each.name: each.value for each in parameters_of(StartOptions(), {})}
    mine = {each.name.partition(f"{GROWN}.")[2]: each.value for each in of_starts}
    text = written_difference({name: mine[name] for name in mine if mine[name] != usual[name]})
    return f"`{text}`" if text else "the defaults"


def _difference(algorithm: Entry, preset: str) -> str:
    text = written_difference(algorithm.difference(preset))
    return f"`{text}`" if text else "(the defaults)"


def _table(head: list[str], rows: Iterator[list[str]] | list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _block(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {name}: generated -->\n).*?(\n<!-- end -->)", re.S)


def _filled(page: Path, blocks: dict[str, Callable[[], str]]) -> str:
    text = page.read_text()
    for name, make in blocks.items():
        text, count = _block(name).subn(lambda found: found[1] + make() + found[2], text)  # noqa: B023
        assert count == 1, f"{page.name} must have one block <!-- {name}: generated --> ... end"
    return text


def _measured(text: str) -> dict[tuple[str, str], list[str]]:
    """The last cells of the rows of the table of presets, those of its head included."""
    found = {}
    block = _block("presets").search(text)
    assert block is not None
    for line in block[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) > 2 and not cells[0].startswith("-"):
            found[re.sub(r"\[(.*)\].*", r"\1", cells[0]), cells[1].strip("`")] = cells[2:]
    return found


def main() -> None:
    """Write the pages anew."""
    for page, text in list(pages()):
        page.write_text(text)


if __name__ == "__main__":
    main()
