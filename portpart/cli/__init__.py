"""Command line: ``portpart partition | map | evaluate | report | info | convert | generate | ...``.

Every command is a module of this folder and is imported when it is called, so that
``portpart --help`` and a mistyped option answer at once.

Exit codes: 0 success, 1 the partition exceeds a weight limit, 2 wrong usage or invalid input,
3 device unavailable or out of memory, 70 an error inside portpart, 130 interrupted (Ctrl-C),
141 standard output was closed.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from portpart.base.version import __version__
from portpart.cli import output
from portpart.errors import DeviceUnavailable, InputError, printable

COMMANDS = {
    "partition": "Partition a graph or hypergraph into k blocks of nearly equal weight.",
    "partition-edges": "Partition the edges of a graph: a vertex cut.",
    "mesh": "Partition a mesh and write it for ParaView, whole or in pieces.",
    "repartition": "Improve an old partition with low migration volume.",
    "replay": "Apply the edits of a netlist to a session, round by round.",
    "map": "Map vertices to the processing elements of a machine.",
    "evaluate": "Evaluate a partition: cut, balance, communication volume.",
    "report": "Write a page about a partition: metrics and pictures.",
    "info": "Describe a graph or hypergraph: size, degrees, weights.",
    "convert": "Convert a graph or hypergraph to another format.",
    "generate": "Generate a graph or hypergraph.",
    "algorithms": "List algorithms, presets and their parameters.",
    "compile": "Compile the kernels for partitions of common graphs in advance.",
    "cache": "Show or clear the folders of compiled kernels.",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; errors become one line on stderr.

    Set the environment variable ``PORTPART_TRACEBACK`` to see Python's traceback instead.
    """
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            outcome = command_line.main(args=arguments, prog_name="portpart", standalone_mode=False)
        except SystemExit:  # how click ends when standard output is closed
            return output.PIPE_CLOSED
        except (Exception, KeyboardInterrupt) as error:
            if os.environ.get("PORTPART_TRACEBACK"):
                raise
            return _report(error)
    return outcome if isinstance(outcome, int) else output.OK


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        from portpart.cli.options import with_values

        return super().parse_args(ctx, with_values(args))

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"portpart.cli.{cmd_name.replace('-', '_')}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(cls=LazyGroup, invoke_without_command=True,
               context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
@click.pass_context
def command_line(ctx: click.Context) -> int:
    """Partition graphs and hypergraphs on CPU cores and CUDA GPUs.

    The file name `-` means standard input or output.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
    return output.BAD_INPUT


def _report(error: BaseException) -> int:
    """Print an error on stderr; return the exit code of this kind of error."""
    message, code = _described(error)
    if not output.is_silent():
        click.echo(f"portpart: {' '.join(printable(message).split())}", err=True)
    return code


def _described(error: BaseException) -> tuple[str, int]:
    """Return the message and the exit code of an error."""
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        return "interrupted", output.INTERRUPTED
    if isinstance(error, click.ClickException):
        return f"error: {error.format_message()}{_where_help_is(error)}", output.BAD_INPUT
    if isinstance(error, (DeviceUnavailable, MemoryError)):
        return f"error: {error or 'out of memory'}", output.UNAVAILABLE
    if isinstance(error, (InputError, OSError)):
        return f"error: {error}", output.BAD_INPUT
    return (f"internal error: {type(error).__name__}: {error} "
            "(PORTPART_TRACEBACK=1 shows where; please report it)"), output.DEFECT


def _where_help_is(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f" (see {context.command_path} --help)" if context else ""


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    if not output.is_silent():
        print(f"portpart: warning: {printable(str(message))}", file=sys.stderr)  # noqa: T201
