"""The table of algorithms: names, parameters and differences, in Python and on the command line."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys

import pytest

import portpart
from portpart.algorithms.mapping.mappers import DEFAULTS, MAPPERS, list_algorithms, mapper_of
from portpart.algorithms.recipes.catalogue import (
    Entry,
    by_name,
    differences,
    parameters_of,
    written,
)
from portpart.algorithms.recipes.partitioners import ALGORITHMS, DEFAULT, OF_NETS, lookup
from portpart.cli import main
from portpart.errors import InputError
from portpart.options import option
from tests.helpers.each import looped

EVERYTHING = list_algorithms()
ENTRIES = [*EVERYTHING.values(), *list_algorithms(hypergraphs=True).values()]
PRESETS = [(algorithm, preset) for algorithm in ENTRIES
           for preset in algorithm.presets]


@dataclasses.dataclass(frozen=True)
class Inner:
    """Options."""

    depth: int = option(1, "A size, in vertices.")
    width: int = option(2, "Another one.")


@dataclasses.dataclass(frozen=True)
class Outer:
    """A configuration."""

    speed: float = option(0.5, "How fast.")
    inner: Inner = option(Inner(), "Sizes.")
    other: Inner | None = option(None, "The same elsewhere.")


def test_meanings_come_from_the_fields() -> None:
    assert {each.name: each.meaning for each in parameters_of(Outer(), {})} == {
        "speed": "How fast.", "inner.depth": "A size, in vertices.",
        "inner.width": "Another one.", "other": "The same elsewhere."}


def test_nested_parameters_have_dotted_names() -> None:
    found = parameters_of(Outer(other=Inner(width=7)), {"speed": "v"})
    assert [(each.name, each.value) for each in found] == [
        ("speed", 0.5), ("inner.depth", 1), ("inner.width", 2), ("other.depth", 1),
        ("other.width", 7)]  # fmt: skip
    assert (found[0].symbol, found[1].symbol) == ("v", "")


def test_differences_name_what_differs_and_nothing_else() -> None:
    assert differences(Outer(), Outer()) == {}
    changed = Outer(speed=1.0, inner=Inner(depth=3), other=Inner())
    assert differences(Outer(), changed) == {"speed": 1.0, "inner.depth": 3, "other": Inner()}
    assert differences(changed, Outer())["other"] is None


def test_long_tuples_are_written_by_their_ends() -> None:
    assert written((0.9, 0.8, 0.7, 0.6, 0.5)) == "(0.9, 0.8, ... 0.5)"
    assert written((0.5,)) == "(0.5,)"


@pytest.mark.parametrize("algorithm", ENTRIES, ids=lambda each: each.title)
def test_every_algorithm_says_what_it_is(algorithm: Entry) -> None:
    assert algorithm.purpose.endswith(".")
    assert algorithm.source
    assert algorithm.difference("default") == {}
    everywhere = {each.name for preset in algorithm.presets
                  for each in algorithm.parameters(preset)}  # fmt: skip
    assert set(algorithm.symbols) <= everywhere
    assert getattr(portpart, algorithm.kind.__name__) is algorithm.kind


@looped(("algorithm", "preset"), PRESETS)  # fmt: skip
def test_every_parameter_of_a_preset_has_a_meaning(algorithm: Entry, preset: str) -> None:
    assert all(each.meaning for each in algorithm.parameters(preset))
    config = algorithm.presets[preset]
    if algorithm.task == "map":
        assert mapper_of(algorithm.name, preset) == (algorithm, config)
    else:
        of_nets = algorithm.takes == "hypergraphs"
        table = OF_NETS if of_nets else ALGORITHMS
        assert lookup(algorithm.name, preset, of_nets=of_nets) == (
            table[algorithm.name].partition, config)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InputError, match="'quick'"):
        by_name(ALGORITHMS, "jet").parameters("quick")
    with pytest.raises(InputError, match=r"'METIS'.*'jet'"):
        by_name(ALGORITHMS, "METIS")


def test_the_list_is_a_copy() -> None:
    for hypergraphs in (False, True):
        portpart.list_algorithms(hypergraphs).clear()
        assert DEFAULTS[0] in portpart.list_algorithms(hypergraphs)
    assert set(DEFAULTS) < set(portpart.list_algorithms())


def test_no_partitioner_has_the_name_of_a_mapper() -> None:
    assert len(EVERYTHING) == len(ALGORITHMS) + len(MAPPERS)
    assert not set(OF_NETS) & set(MAPPERS)


def test_the_list_says_what_is_for_hypergraphs() -> None:
    assert {(each.name, each.takes) for each in ENTRIES} == {
        *((name, "hypergraphs") for name in OF_NETS), *((name, "graphs") for name in EVERYTHING)}


def test_the_command_lists_all_presets(capsys: pytest.CaptureFixture) -> None:
    assert main(["algorithms"]) == 0
    printed = capsys.readouterr().out
    for algorithm in ENTRIES:
        assert f"\n{algorithm.name}" in "\n" + printed
        assert all(f"\n  {preset}" in printed for preset in algorithm.presets)
    assert main(["algorithms", "--hypergraphs"]) == 0
    printed = capsys.readouterr().out
    assert "configuration: portpart.HypergraphConfig" in printed
    assert "of graphs" not in printed


def test_the_command_tells_the_parameters_of_an_algorithm(capsys: pytest.CaptureFixture) -> None:
    assert main(["algorithms", "jet"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "8 (fast: 1, ultra: 16, paper: 1, paper-ultra: 1, code: 1, code-ultra: 1)" in printed
    ultra = "ultra: (0.85, 0.8, ... 0.05)"
    assert f"(0.75,) ({ultra}, paper-{ultra}, code-{ultra}) [c]" in printed
    assert all(each.name in printed for each in ALGORITHMS["jet"].parameters())
    for flags, table in (((), ALGORITHMS), (("--hypergraphs",), OF_NETS)):
        assert main(["algorithms", "portpart", *flags]) == 0
        printed = capsys.readouterr().out
        assert f"configuration: portpart.{table['portpart'].kind.__name__}\n" in printed


def test_json_holds_everything(capsys: pytest.CaptureFixture) -> None:
    assert main(["algorithms", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["algorithms"]
    assert [(each["task"], each["name"]) for each in listed if each["is_default"]] == [
        ("partition", DEFAULT), ("map", "hm"), ("partition", DEFAULT)]  # fmt: skip
    assert [(each["name"], each["takes"], list(each["presets"])) for each in listed] == [
        (each.name, each.takes, list(each.presets)) for each in ENTRIES]
    assert main(["algorithms", "jet", "--json"]) == 0
    jet = json.loads(capsys.readouterr().out)
    assert jet["presets"]["fast"] == {
        "initial.starts": 1, "refinement.coarse.tolerance": 0.99}
    by_key = {each["name"]: each for each in jet["parameters"]["ultra"]}
    assert by_key["initial.starts"]["value"] == 16
    assert by_key["refinement.temperatures"]["symbol"] == "c"
    assert set(by_key["initial.starts"]) == {"name", "value", "meaning", "symbol"}


def test_an_unknown_algorithm_is_bad_usage(capsys: pytest.CaptureFixture) -> None:
    assert main(["algorithms", "METIS"]) == 2
    assert "'METIS'" in capsys.readouterr().err


def test_help_names_algorithms_and_presets(capsys: pytest.CaptureFixture) -> None:
    assert main(["partition", "--help"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert all(name in printed for name in ALGORITHMS)
    assert f"Hypergraphs: {'; '.join(OF_NETS)}." in printed
    assert "fast, default, ultra, paper, paper-ultra, code, code-ultra (jet)" in printed
    assert "hm-ultra" not in printed


def test_help_names_mappers_and_presets(capsys: pytest.CaptureFixture) -> None:
    assert main(["map", "--help"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert all(name in printed for name in MAPPERS)
    assert "paper, fast, default, strong, best (im)" in printed
    assert "gkway" not in printed


def test_the_command_tells_the_parameters_of_a_mapper(capsys: pytest.CaptureFixture) -> None:
    assert main(["algorithms", "im"]) == 0
    printed = capsys.readouterr().out
    assert "for portpart map" in printed
    assert all(each.name in printed for each in MAPPERS["im"].parameters())


def test_a_call_imports_its_algorithm_and_no_other() -> None:
    code = ("import sys, portpart\n"
            "ring = [(i, (i + 1) % 9) for i in range(9)]\n"
            "for algorithm in (None, 'gkway'):\n"
            "    portpart.partition(ring, 3, algorithm=algorithm)\n"
            "    print(*(name for name in ('portpart', 'jet', 'gkway', 'gpmetis', 'hyperg')\n"
            "            if f'portpart.algorithms.recipes.{name}' in sys.modules))\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["portpart", "portpart gkway"]
