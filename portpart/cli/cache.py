"""``portpart cache``: the folders of compiled kernels."""

from __future__ import annotations

import os

import click

from portpart.base import cache_folder
from portpart.cli import options
from portpart.cli.output import grouped, print_facts, print_json


@click.command("cache")
@click.option("--show", is_flag=True, help="Show folder, files and size (default).")
@click.option("--clear", is_flag=True, help="Delete portpart's files in these folders.")
@options.json_option
def command(show: bool, clear: bool, as_json: bool) -> None:
    """Show or clear the folders of compiled kernels.

    The folders are listed in $PORTPART_CACHE_DIR; the default is portpart in $XDG_CACHE_HOME or
    ~/.cache. New files go to the first writable folder.
    """
    if show and clear:
        raise click.UsageError("--show and --clear exclude each other")
    if clear:
        count, size = cache_folder.clear()
    else:
        sizes = [path.stat().st_size for path in cache_folder.files()]
        count, size = len(sizes), sum(sizes)
    folders = os.pathsep.join(map(str, cache_folder.cache_folders()))
    if as_json:
        print_json({"folder": folders, "files": count, "bytes": size, "cleared": clear})
        return
    print_facts({"folder": folders,
                 "cleared" if clear else "files": f"{grouped(count)}, {size / 1e6:,.1f} MB"})
