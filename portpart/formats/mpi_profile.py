r"""Traffic of MPI ranks, as Open MPI's monitoring component writes it: a file for each rank.

    mpirun --mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3 \
        --mca pml_monitoring_filename traffic ./solver

writes ``traffic.0.prof``, ``traffic.1.prof`` ...  A line ``E<tab>0<tab>1<tab>1018 bytes<tab>...``
says that rank 0 has sent 1018 bytes to rank 1 in the program's own messages; I are messages of
collective operations, S and R one-sided ones. Other lines repeat these by communicator.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import numpy as np

from portpart.errors import GraphFormatError, errors_about, shown
from portpart.formats.text import Source, read_source
from portpart.graphs import Graph, edges_graph

BEGINS, LAST_PART = b"# POINT TO POINT", b"# COLLECTIVES"
SENT = (b"E", b"I", b"S", b"R")
UNUSED = (b"C", b"D", b"A2O", b"A2A")
OF_ALL = re.compile(rb"O2A\t(\d{1,9})\t.*")
"""A line that the file of every rank has, whatever the rank sends."""

LINE = re.compile(rb"[EISR]\t(\d{1,9})\t(\d{1,9})\t(\d{1,18}) bytes\t\d+ msgs sent\b.*")
NAME = re.compile(r"(.*\.)(\d{1,9})(\.prof)")


def parse(source: Source) -> Graph:
    """Return the graph of the ranks; the weight of an edge is the number of bytes between its ends.

    For ``traffic.N.prof`` the files of the other ranks are also read; a text with another name has
    the lines of all ranks.

    Raises
    ------
    GraphFormatError
        With the rank that has no file or lines, or file and line of a deviation from the format.
    """
    rows = np.array([row for each in _files(source) for row in _rows(each)], np.int64)
    rows = rows.reshape(-1, 3)
    senders = np.unique(rows[:, 0])
    n = 1 + int(rows[:, :2].max(initial=-1))
    source.refuse_size(None, n)
    missing = np.setdiff1d(np.arange(n), senders)
    if len(missing):
        raise GraphFormatError(f"{source.name}: nothing of rank {missing[0]}, which is one of {n}; "
                               "the files of all ranks are needed")
    sent = rows[(rows[:, 2] > 0) & (rows[:, 0] != rows[:, 1])]
    with errors_about(source.name):
        return edges_graph(n, sent[:, 0], sent[:, 1], sent[:, 2], symmetrize="sum")


def _files(source: Source) -> Iterator[Source]:
    """Yield the file, and the files of the ranks before and after."""
    match = NAME.fullmatch(os.path.basename(source.name))
    if match is None:
        yield source
        return
    folder = os.path.dirname(source.name)
    prefix, _, suffix = match.groups()
    ranks = sorted(int(other[2]) for each in os.listdir(folder or ".")
                   if (other := NAME.fullmatch(each)) and other[1] == prefix)
    for place, rank in enumerate(ranks):
        if place != rank:
            missing = os.path.join(folder, f"{prefix}{place}{suffix}")
            raise GraphFormatError(f"{missing} is missing, and there is one of rank {rank}; the "
                                   "files of all ranks are needed")
        name = os.path.join(folder, f"{prefix}{rank}{suffix}")
        yield source if name == source.name else read_source(name)


def _rows(source: Source) -> Iterator[tuple[int, int, int]]:
    """Yield sender, receiver and bytes of each line; bytes to itself show that a rank exists."""
    if not source.data.startswith(BEGINS):
        raise GraphFormatError(f"{source.name}: does not begin with {BEGINS.decode()}, as a "
                               "profile of Open MPI's monitoring does")
    if source.data.count(LAST_PART) != source.data.count(BEGINS):
        raise GraphFormatError(f"{source.name}: ends before {LAST_PART.decode()}; was the job "
                               "stopped while it wrote?")
    for number, _, line in source.lines():
        word = line.split(b"\t", 1)[0]
        if word in SENT:
            found = LINE.fullmatch(line)
            if found is None:
                source.refuse(number, f"{shown(line[:40].decode('utf-8', 'replace'))} is no line "
                              "of two ranks, bytes and messages")
            tail, head, size = map(int, found.groups())
            yield tail, head, size
        elif (own := OF_ALL.fullmatch(line)) is not None:
            yield int(own[1]), int(own[1]), 0
        elif word not in UNUSED and not line.startswith(b"#"):
            source.refuse(number, f"{shown(word[:40].decode('utf-8', 'replace'))} begins no line "
                          "of a profile")
