"""Netlists of files: gate-level Verilog, BLIF, AIGER."""

from __future__ import annotations

from portpart.errors import InputError
from portpart.io.known import FORMATS, format_of_name
from portpart.io.netlist.netlist import Netlist
from portpart.io.sniff import netlist_format
from portpart.io.text.files import PathLike, Source, read_source
from portpart.options import shown

NETLISTS = ("verilog", "blif", "aiger")


def read_netlist(path: PathLike, *, top: str | None = None, format: str | None = None) -> Netlist:
    r"""Read a netlist: gate-level Verilog, BLIF or AIGER.

    Parameters
    ----------
    path : str or PathLike
        Plain or packed; of a tar or zip file the netlist in it.  ``-`` reads standard input.
    top : str, optional
        The module to take; default: the only one that no other module instantiates, of BLIF the
        first model.  AIGER files have none.
    format : {"verilog", "blif", "aiger"}, optional
        Default: what the content shows, else what the suffix says, else Verilog.

    Returns
    -------
    Netlist
        Gates in the order of the file, those inside of instances of modules after them and named
        ``instance/gate``.

    Raises
    ------
    GraphFormatError
        Naming file and line of what is not understood.
    InputError
        If the file cannot be read or has no module `top`.

    Notes
    -----
    O(bytes), in Python: a million gates take ten to twenty seconds and about a gigabyte.  The ANDs
    of binary AIGER are read at once.

    Examples
    --------
    >>> from pathlib import Path
    >>> import portpart
    >>> _ = Path("pair.blif").write_text(".model pair\n.inputs a\n.outputs z\n"
    ...     ".names a n\n0 1\n.names n z\n0 1\n.end\n")
    >>> portpart.io.read_netlist("pair.blif")
    <Netlist pair: 2 gates, 3 nets, 4 pins, 2 ports>
    """
    if format is not None and format not in NETLISTS:
        raise InputError(f"unknown format of netlists {shown(format)}; known are "
                         f"{', '.join(NETLISTS)}")
    suffixes = tuple(suffix for name in NETLISTS for suffix in FORMATS[name].suffixes)
    source = read_source(path, None, suffixes)
    hint = format_of_name(source.name)
    named = hint if hint in NETLISTS else "verilog"
    return netlist_of(source, format or netlist_format(source.data) or named, top)


def netlist_of(source: Source, format: str, top: str | None = None) -> Netlist:
    """The netlist in the text of a file."""
    options = {} if top is None else {"top": top}
    if options and "top" not in FORMATS[format].options:
        raise InputError(f"top does not apply to {format} files")
    made: Netlist = FORMATS[format].module.parse_netlist(source, **options)
    return made
