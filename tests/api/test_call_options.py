"""The table of options agrees with what users read: signatures, docstrings and the command line."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import pytest

import portpart
from portpart.api.call_options import SESSION_MIGRATION, TABLE, CallOptions, checked
from portpart.cli import command_line
from portpart.errors import InputError
from tests.docs.command_pages import commands
from tests.helpers.each import looped

FUNCTIONS: dict[str, Any] = {
    "partition": portpart.partition, "partition_edges": portpart.partition_edges,
    "repartition": portpart.repartition,
    "map_processes": portpart.map_processes, "Session": portpart.Session,
    "Session.apply": portpart.Session.apply}

OF_GRAPH_ALONE = {"graph", "part", "hierarchy", "distances", "topology", "self", "batch"}
"""What calls work on, which is no option."""

OTHER_DEFAULTS = {("Session", "migration"): SESSION_MIGRATION}


def parameters(name: str) -> dict[str, inspect.Parameter]:
    """The options of a function."""
    call = FUNCTIONS[name]
    signature = inspect.signature(call.__init__ if inspect.isclass(call) else call)
    return {each.name: each for each in signature.parameters.values()
            if each.name not in OF_GRAPH_ALONE}


def paragraph(name: str, option: str) -> tuple[str, str]:
    """The row of a docstring for an option, and its text in one line."""
    lines = inspect.getdoc(FUNCTIONS[name])
    assert lines is not None
    found = re.search(rf"^{option} : (.*)\n((?: +.*\n|\n(?= ))+)", lines, re.M)
    assert found is not None, option
    return found[1], " ".join(found[2].split())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures_have_types_and_defaults_of_the_table(name: str) -> None:
    for option, parameter in parameters(name).items():
        entry = TABLE[option]
        default = OTHER_DEFAULTS.get((name, option), entry.default)
        wanted = inspect.Parameter.empty if default is MISSING else default
        assert (parameter.annotation, parameter.default) == (entry.type, wanted), option


@looped("option", TABLE)
def test_the_first_docstring_begins_with_the_sentence_of_the_table(option: str) -> None:
    """Of the function that is listed first among those that have the option."""
    name = next(each for each in FUNCTIONS if option in parameters(each))
    kind, text = paragraph(name, option)
    assert text.startswith(TABLE[option].metadata["sentence"])
    default = TABLE[option].default
    if default is MISSING:
        assert "optional" not in kind
    elif default is None:
        assert kind.endswith(", optional")
    else:
        assert kind.endswith(f", default {default!r}".replace("'", '"'))


def test_commands_have_options_of_the_table_with_its_words() -> None:
    """Those whose help depends on the command are listed."""
    special = {("portpart evaluate", "k"), ("portpart partition-edges", "fixed"),
               ("portpart report", "k"), ("portpart replay", "objective"),
               ("portpart repartition", "preset"), ("portpart replay", "rounds")}
    own = {"algorithm", "preset", "weights", "weight_scale", "symmetrize"}
    found = set()
    for name, command in commands("portpart", command_line):
        for option in command.params:
            known = isinstance(option, click.Option) and option.name in TABLE
            if known and name.split()[1] not in ("generate", "compile"):
                found.add(option.name)
                assert option.name is not None
                if (name, option.name) not in special and option.name not in own:
                    assert isinstance(option, click.Option)
                    assert (option.help or "").startswith(TABLE[option.name].metadata["sentence"])
    assert len(found) > 20


@pytest.mark.parametrize(("option", "bad", "message"), [
    ("k", None, "k is None; it must be an integer"),
    ("seed", -1, "seed is -1; it must be between 0"),
    ("threads", 0, "threads is 0; it must be between 1"),
    ("starts", 0.5, "starts is 0.5; it must be an integer"),
    ("min_block_weight", -1, "min_block_weight is -1"),
    ("rounds", 0, "rounds is 0; it must be between 1"),
    ("rounds", "many", "rounds is 'many'; it must be a number of rounds or 'until_limit'"),
    ("rounds", "until_limit", "time_limit is missing; pass time_limit=60, for example"),
    ("time_limit", "soon", "time_limit is 'soon'; it must be a number of seconds"),
    ("migration", "-1", "migration is '-1'; it must be at least 0"),
    ("swaps", "yes", "swaps is 'yes'; it must be True or False"),
    ("device", 0, "device is 0; it must be 'auto'"),
    ("escalate", "rarely", "escalate is 'rarely'; it must be one of 'auto', 'never'"),
    ("effort", None, "effort is None; it must be one of 'auto', 'none'"),
    ("progress", "bar", "progress is 'bar'; it must be callable"),
    ("imbalance", -0.1, "imbalance is -0.1"),
    ("target", [1], "target holds 1 numbers for 2 blocks"),
])
def test_values_that_are_none_of_an_option_are_refused(option: str, bad: Any,
                                                       message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        CallOptions(**{"k": 2, option: bad}).checked()


def test_no_function_looks_at_its_own_locals() -> None:
    """Options are passed by name: a new one must be named to have an effect."""
    package = Path(portpart.__file__).parent
    assert not [path for path in package.rglob("*.py") if "locals()" in path.read_text()]


def test_defaults_are_valid_as_they_are():
    """`checked` passes over options that have their default."""
    for name, each in TABLE.items():
        if each.default is not MISSING:
            assert checked(name, each.default) == each.default, name
    assert CallOptions(2).checked().migration == Fraction(1)
    assert CallOptions(2, migration="0.5").checked().migration == Fraction(1, 2)
