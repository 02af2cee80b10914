"""docs/reference/commands.md: every command of the command line with its options.

``python -m tests.docs.command_pages`` writes it anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import click

from portpart.cli import COMMANDS, command_line
from portpart.cli.options import ReadingOptions

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "commands.md"
HEAD = """# Commands

All commands with their options, as `portpart COMMAND --help` prints them. [Command line](cli.md)
describes output and exit codes. `python -m tests.docs.command_pages` writes this page.
"""


READING = """## Options for reading

Commands that read a graph have these options. Options for hypergraphs do not apply to `map`.
"""

SHARED = {field.name for field in fields(ReadingOptions)}
"""Parameters of the options for reading."""


def page() -> str:
    """The text of the page."""
    found = list(commands("portpart", command_line))
    return "\n".join([HEAD, *(section(*each) for each in found), reading(dict(found))])


def reading(found: dict[str, click.Command]) -> str:
    """The options that all commands that read a graph have."""
    command = found["portpart partition"]
    shared = [each for each in options_of(command) if is_shared(each)]
    return f"{READING}\n{table(command, shared)}\n"


def options_of(command: click.Command) -> list[click.Option]:
    return [each for each in command.params if isinstance(each, click.Option)]


def is_shared(option: click.Option) -> bool:
    return option.name in SHARED


def commands(name: str, group: click.Group) -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, groups of commands before those in them."""
    context = click.Context(group, info_name=name)
    for each in group.list_commands(context):
        command = group.get_command(context, each)
        assert command is not None, each
        if isinstance(command, click.Group):
            yield from commands(f"{name} {each}", command)
        else:
            yield f"{name} {each}", command


def section(name: str, command: click.Command) -> str:
    """A heading, the usage, what it does and a table of options."""
    context = click.Context(command, info_name=name)
    usage = " ".join(command.collect_usage_pieces(context))
    about = "\n\n".join(" ".join(paragraph.split()) for paragraph in
                        (command.help or COMMANDS[name.split()[-1]]).split("\n\n"))
    options = options_of(command)
    reads = SHARED <= {each.name for each in options}
    own = [each for each in options if not (reads and is_shared(each))]
    also = "\nAlso [options for reading](#options-for-reading).\n" * reads
    return f"## {name}\n\n    {name} {usage}\n\n{about}\n\n{table(command, own)}\n{also}"


def table(command: click.Command, options: list[click.Option]) -> str:
    """A row for each option."""
    context = click.Context(command)
    rows = (row(each, context) for each in options)
    return "\n".join(["| option | meaning |", "|---|---|", *rows])


def row(option: click.Option, context: click.Context) -> str:
    """A row of the table: how the option is written, what it means, its default."""
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    if not option.is_flag:
        value = option.make_metavar(context).removesuffix(" RANGE").replace("|", "\\|")
        names = f"{names[:-1]}{'' if value.startswith('[=') else ' '}{value}`"
    option.get_help_record(context)  # some know their help only when it is asked for
    default = f"Default: `{option.default}`." if option.show_default else ""
    text = " ".join(filter(None, [option.help, "Required." * option.required, default]))
    return f"| {names} | {text} |"


if __name__ == "__main__":
    PAGE.write_text(page())
