"""The tables of docs/algorithms and docs/reference that come from the table of algorithms.

    python -m tests.docs.algorithm_pages

writes them anew, between the comments that mark them.  What a table of presets has besides (figures
that were measured) is kept for presets that are still there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from portpart.algorithms.initial.options import GrowingOptions
from portpart.algorithms.mapping.mappers import DEFAULTS, MAPPERS
from portpart.algorithms.recipes.catalogue import (
    Entry,
    Parameter,
    parameters_of,
    written,
    written_difference,
)
from portpart.algorithms.recipes.partitioners import ALGORITHMS, OF_NETS, Algorithm

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "algorithms"
OVERVIEW = FOLDER / "README.md"
MAPPING = FOLDER / "mapping.md"
PARAMETERS = FOLDER.parent / "reference" / "parameters.md"

GROWING = {each.name: each.meaning for each in parameters_of(GrowingOptions(), {})}
"""Parameters of initial partitions, which have a table of their own."""

SECTIONS = ("When to use it", "How it works", "Differences from the source", "Measurements",
            "Limitations")
"""What the page of an algorithm has, in this order."""

GREEK = {"alpha": "α", "gamma": "γ", "phi": "φ", "lambda": "λ", "sigma": "σ"}  # noqa: RUF001
NOT_MEASURED = "-"

PARTITIONERS: list[Algorithm] = [*ALGORITHMS.values(), *OF_NETS.values()]


def page_of(algorithm: Entry) -> Path:
    """The page of a partitioner; one that takes graphs, too, has another for hypergraphs."""
    also_of_graphs = algorithm.takes == "hypergraphs" and algorithm.name in ALGORITHMS
    return FOLDER / f"{algorithm.name}{'-hypergraphs' * also_of_graphs}.md"


def pages() -> Iterator[tuple[Path, str]]:
    """Every page with the text that it is to have."""
    measured = _measured(OVERVIEW.read_text())
    yield OVERVIEW, _filled(OVERVIEW, {
        "algorithms": lambda: algorithms(ALGORITHMS),
        "algorithms of hypergraphs": lambda: algorithms(OF_NETS),
        "presets": lambda: presets(measured)})
    yield MAPPING, _filled(MAPPING, {"algorithms": lambda: algorithms(MAPPERS)})
    listed = {**{name: ALGORITHMS[name] for name in ("portpart", "jet", "gpmetis")},
              "portpart for hypergraphs": OF_NETS["portpart"], "hyperg": OF_NETS["hyperg"],
              **{name: MAPPERS[name] for name in ("hm", "im", "two-phase")}}
    yield PARAMETERS, _filled(PARAMETERS, {
        "parameters": shared_parameters, "parameters of starts": parameters_of_starts,
        "presets": lambda: presets_of(ALGORITHMS),
        "presets of mappers": lambda: presets_of(MAPPERS),
        "presets for hypergraphs": lambda: presets_of(OF_NETS),
        **{f"parameters of {name}": partial(parameters, each) for name, each in listed.items()}})


def algorithms(table: Mapping[str, Entry]) -> str:
    """One row for each algorithm."""
    return _table(["`algorithm=`", "what it does"], (
        [f"{_linked(each)}{', the default' if each.name in DEFAULTS else ''}", each.purpose]
        for each in table.values()))


def _linked(algorithm: Entry) -> str:
    """The name, with a link to the page of the algorithm if it has one of its own."""
    name = f"`{algorithm.name}`"
    return f"[{name}]({page_of(algorithm).name})" if algorithm.task == "partition" else name


def presets(measured: dict[tuple[str, str], list[str]]) -> str:
    """One row for each preset of each partitioner, with the figures that the page has."""
    head = ["algorithm", "preset"]
    extra = measured[("algorithm", "preset")]
    return _table(head + extra, (
        [f"[{each.title}]({each.name}.md)", f"`{preset}`",
         *measured.get((each.title, preset), [NOT_MEASURED] * len(extra))]
        for each in ALGORITHMS.values() for preset in each.presets))


def presets_of(table: Mapping[str, Entry]) -> str:
    """One row for each preset of each algorithm."""
    return _table(["algorithm", "preset", "what it changes"], (
        [f"`{each.name}`", f"`{preset}`", _difference(each, preset)]
        for each in table.values() for preset in each.presets))


def parameters(algorithm: Entry) -> str:
    """One row for each parameter of its own, or for several that are explained together."""
    shared = _shared() if algorithm in _sharing() else {}
    rows = []
    for alike in _explained_together(_without_growing(algorithm)):
        meaning = alike[0].meaning
        if all(shared.get(each.name) == meaning for each in alike):
            continue
        symbols = dict.fromkeys(GREEK.get(each.symbol, each.symbol) for each in alike)
        rows.append([_names(alike), ", ".join(written(each.value) for each in alike),
                     " ".join(filter(None, symbols)), meaning.replace("  ", " ")])
    head = ["parameter", "default", "symbol", "meaning"]
    if not any(symbol for _, _, symbol, _ in rows):
        head, rows = [head[0], head[1], head[3]], [[*row[:2], row[3]] for row in rows]
    return _table(head, rows)


def shared_parameters() -> str:
    """One row for each parameter that several recipes have, with its default in each of them."""
    values = {entry.name: {each.name: each for each in entry.parameters()} for entry in _sharing()}
    shared, rows, listed = _shared(), [], set()
    for entry in _sharing():
        for alike in _explained_together(_without_growing(entry)):
            names = [each.name for each in alike if shared.get(each.name) == each.meaning
                     and each.name not in listed]
            if names:
                listed.update(names)
                rows.append([", ".join(f"`{name}`" for name in names),
                             *(_values(own, names, shared) for own in values.values()),
                             alike[0].meaning.replace("  ", " ")])
    rows.append(["`initial.growing`, `initial` of `im`",
                 *(_beside_defaults(entry) for entry in _sharing()),
                 "[Initial partitions](#initial-partitions) that are grown."])
    return _table(["parameter", *(f"`{entry.name}`" for entry in _sharing()), "meaning"], rows)


def parameters_of_starts() -> str:
    """One row for each option of initial partitions that are grown."""
    return _table(["parameter", "default", "meaning"], (
        [_names(alike), ", ".join(written(each.value) for each in alike),
         alike[0].meaning.replace("  ", " ")]
        for alike in _explained_together(parameters_of(GrowingOptions(), {}))))


def _sharing() -> list[Entry]:
    """The recipes that go through the multilevel walk: what they share stands on one page."""
    return [*ALGORITHMS.values(), MAPPERS["im"]]


def _shared() -> dict[str, str]:
    """Names and meanings of the parameters of several recipes."""
    seen = Counter((each.name, each.meaning) for entry in _sharing()
                   for each in entry.parameters())
    return {name: meaning for (name, meaning), count in seen.items() if count > 1}


def _explained_together(listed: list[Parameter]) -> list[list[Parameter]]:
    groups: dict[str, list[Parameter]] = {}
    for each in listed:
        groups.setdefault(each.meaning, []).append(each)
    return list(groups.values())


def _without_growing(entry: Entry) -> list[Parameter]:
    """The parameters of a recipe without those of initial partitions that are grown."""
    return [each for each in entry.parameters() if each.meaning not in GROWING.values()]


def _names(alike: list[Parameter]) -> str:
    return ", ".join(f"`{each.name}`" for each in alike)


def _values(own: dict[str, Parameter], names: list[str], shared: dict[str, str]) -> str:
    """Values of one recipe; nothing for a parameter that it has not, or means otherwise."""
    return ", ".join(written(own[name].value) for name in names
                     if name in own and own[name].meaning == shared[name])


def _beside_defaults(entry: Entry) -> str:
    """What a recipe has other values of than initial partitions have by default."""
    usual = {each.name: each.value for each in parameters_of(GrowingOptions(), {})}
    mine = {each.name.rpartition(".")[2]: each.value for each in entry.parameters()
            if each.meaning in GROWING.values()}
    text = written_difference({name: mine[name] for name in usual if mine[name] != usual[name]})
    return f"`{text}`" if text else ""


def _difference(algorithm: Entry, preset: str) -> str:
    """What a preset changes, said beside another one where that is shorter."""
    mine = algorithm.difference(preset)
    shortest = ("", mine)
    for other in algorithm.presets:
        theirs = algorithm.difference(other)
        rest = {name: value for name, value in mine.items() if theirs.get(name, ()) != value}
        if other != preset and theirs.keys() <= mine.keys() and len(rest) + 1 < len(shortest[1]):
            shortest = (f"`{other}` with ", rest)
    text = written_difference(shortest[1])
    return f"{shortest[0]}`{text}`" if text else "(the defaults)"


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
