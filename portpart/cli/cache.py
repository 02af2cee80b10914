"""``portpart cache``: the folder of compiled kernels."""

from __future__ import annotations

import click

from portpart.backends import cache_folder
from portpart.cli import options
from portpart.cli.output import grouped, print_facts, print_json


@click.command("cache")
@click.option("--show", is_flag=True, help="Tell folder, files and size: the default.")
@click.option("--clear", is_flag=True, help="Delete the files that portpart has made there.")
@options.json_option
def command(show: bool, clear: bool, as_json: bool) -> None:
    """Show or clear the folder in which compiled CPU kernels are kept.

    It is $PORTPART_CACHE_DIR, else portpart in $XDG_CACHE_HOME or ~/.cache.  CuPy keeps the GPU's
    kernels in $CUPY_CACHE_DIR.
    """
    if show and clear:
        raise click.UsageError("--show and --clear exclude each other")
    if clear:
        count, size = cache_folder.clear()
    else:
        sizes = [path.stat().st_size for path in cache_folder.files()]
        count, size = len(sizes), sum(sizes)
    folder = str(cache_folder.cache_folder())
    if as_json:
        print_json({"folder": folder, "files": count, "bytes": size, "cleared": clear})
        return
    print_facts({"folder": folder,
                 "cleared" if clear else "files": f"{grouped(count)}, {size / 1e6:,.1f} MB"})
