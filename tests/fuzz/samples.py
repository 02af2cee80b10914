"""Valid inputs of every format, made of small graphs by code of its own."""

from __future__ import annotations

import io
import random
import struct
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import scipy.sparse as sparse


@dataclass(frozen=True)
class Sample:
    """A small graph: edges (u, v, weight), masses of the vertices or None."""

    n: int
    edges: list[tuple[int, int, int]]
    masses: list[int] | None = None

    @property
    def weighted(self) -> bool:
        return any(weight != 1 for _, _, weight in self.edges)

    def rows(self) -> list[list[tuple[int, int]]]:
        """Neighbours and weights of each vertex."""
        found: list[list[tuple[int, int]]] = [[] for _ in range(self.n)]
        for u, v, weight in self.edges:
            found[u].append((v, weight))
            found[v].append((u, weight))
        return found

    def csr(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Offsets, targets and weights."""
        rows = self.rows()
        offsets = np.cumsum([0] + [len(row) for row in rows])
        flat = [arc for row in rows for arc in row]
        return (offsets, np.array([v for v, _ in flat], np.int32),
                np.array([weight for _, weight in flat], np.int64))


@cache
def graphs() -> list[Sample]:
    """A ring, a grid, a star, two components, one random graph and degenerate ones."""
    chance = random.Random(1)
    grid = [(4 * i + j, 4 * i + j + step, 1) for i in range(4) for j in range(4)
            for step in (1, 4) if (step == 4 and i < 3) or (step == 1 and j < 3)]
    pairs = sorted({tuple(sorted(chance.sample(range(12), 2))) for _ in range(25)})
    return [
        Sample(7, [(i, (i + 1) % 7, 1) for i in range(7)]),
        Sample(16, grid, [1 + i % 3 for i in range(16)]),
        Sample(6, [(0, i, i) for i in range(1, 6)]),
        Sample(6, [(0, 1, 1), (1, 2, 1), (0, 2, 1), (3, 4, 1), (4, 5, 1)]),
        Sample(12, [(u, v, chance.randrange(1, 50)) for u, v in pairs], [3] * 12),
        Sample(3, [(0, 1, 5), (0, 1, 2), (1, 2, 2**40)]),
        Sample(5, [(1, 2, 1)]),
        Sample(1, []),
    ]


@cache
def metis() -> list[bytes]:
    found = []
    for sample in graphs():
        flags = 10 * (sample.masses is not None) + sample.weighted
        lines = [f"{sample.n} {len(sample.edges)}" + (f" {flags:03}" if flags else "")]
        for vertex, row in enumerate(sample.rows()):
            words = [] if sample.masses is None else [sample.masses[vertex]]
            for target, weight in row:
                words += [target + 1, weight] if sample.weighted else [target + 1]
            lines.append(" ".join(map(str, words)))
        found.append(_text(["% made here", *lines]))
    return [*found, b"3 2 100\n1 2\n1 1 3\n9 2\n"]


@cache
def matrix_market() -> list[bytes]:
    found = []
    for number, sample in enumerate(graphs()):
        field = ("pattern", "integer", "real")[number % 3]
        symmetry = ("symmetric", "general")[number % 2]
        edges = [(max(u, v), min(u, v), w) for u, v, w in sample.edges]
        if symmetry == "general":
            edges += [(v, u, w) for u, v, w in edges]
        lines = [f"%%MatrixMarket matrix coordinate {field} {symmetry}", "% made here",
                 f"{sample.n} {sample.n} {len(edges)}"]
        values = {"pattern": "", "integer": " {}", "real": " {}.0e0"}[field]
        found.append(_text(lines + [f"{u + 1} {v + 1}{values.format(w)}" for u, v, w in edges]))
    array = ["%%MatrixMarket matrix array integer general", "3 3", *"010101010"]
    return [*found, _text(array)]


@cache
def edge_list() -> list[bytes]:
    found = []
    for number, sample in enumerate(graphs()):
        gap = " \t,;"[number % 4]
        head = [[], ["# Nodes: 7 Edges: 7"], ["source,target"], ["% bip", "%"],
                [f"# portpart: vertices {sample.n}"]][number % 5]
        found.append(_text(head + [gap.join(map(str, (u, v, w) if sample.weighted else (u, v)))
                                   for u, v, w in sample.edges]))
    quoted = ["source,target,weight", '"a","b",3', '"b","c d",4', "a,c d,5"]
    return [*found, _text(quoted), b"1000000007 5\n5 -3\n-3 1000000007\n"]


@cache
def dimacs() -> list[bytes]:
    found = []
    for number, sample in enumerate(graphs()):
        word = ("a", "e", "")[number % 3]
        columns = [(u + 1, v + 1, w) if word == "a" else (u + 1, v + 1)
                   for u, v, w in sample.edges]
        kind = {"a": "sp", "e": "edge", "": "tw"}[word]
        lines = ["c made here", f"p {kind} {sample.n} {len(columns)}"]
        found.append(_text(lines + [" ".join([word, *map(str, row)]).strip() for row in columns]))
    return [*found, b"1 2\n2 3\n"]


@cache
def metis_mesh() -> list[bytes]:
    """Quadrilaterals, with and without weights, and elements of several kinds."""
    quads = [(5 * i + j, 5 * i + j + 1, 5 * i + j + 6, 5 * i + j + 5)
             for i in range(3) for j in range(4)]
    rows = [" ".join(str(node + 1) for node in quad) for quad in quads]
    return [
        _text(["% made here", str(len(rows)), *rows]),
        _text([f"{len(rows)} 1", *(f"{place} {row}" for place, row in enumerate(rows))]),
        b"4\n1 2 3\n3 2\n4\n5 4 1 2 3 6\n",
    ]


@cache
def own_npz() -> list[dict[str, np.ndarray]]:
    found = []
    for sample in graphs():
        offsets, targets, weights = sample.csr()
        arrays = {"offsets": offsets, "targets": targets}
        if sample.weighted:
            arrays["weights"] = weights
        if sample.masses is not None:
            arrays["vertex_weights"] = np.array(sample.masses)
        found.append(arrays)
    bare = [{{"offsets": "indptr", "targets": "indices"}.get(name, name): array
             for name, array in arrays.items()} for arrays in found]
    return found + bare


@cache
def parhip() -> list[bytes]:
    """ParHIP files; a flag that is set stands for 32 bits, or for no weights."""
    found = []
    for sample, wide in product(graphs(), (False, True)):
        offsets, targets, weights = sample.csr()
        flags = (0 if wide else 12) | (not sample.weighted) | 2 * (sample.masses is None)
        size, width = (8, "Q") if wide else (4, "I")
        begin = 24 + size * (sample.n + 1)
        data = struct.pack("<3Q", flags, sample.n, len(targets))
        for values in (begin + size * offsets, targets):
            data += struct.pack(f"<{len(values)}{width}", *values)
        for values in (sample.masses or [], weights if sample.weighted else []):
            data += struct.pack(f"<{len(values)}q", *values)
        found.append(data)
    return found


@cache
def scipy_npz() -> list[dict[str, np.ndarray]]:
    """What `scipy.sparse.save_npz` writes, for each of its formats."""
    found = []
    for number, sample in enumerate(graphs()[:5]):
        offsets, targets, weights = sample.csr()
        matrix = sparse.csr_matrix((weights, targets, offsets), shape=(sample.n,) * 2)
        made = matrix.asformat(("csr", "csc", "coo", "bsr", "dia")[number])
        buffer = io.BytesIO()
        sparse.save_npz(buffer, made)
        buffer.seek(0)
        with np.load(buffer) as archive:
            found.append({name: archive[name] for name in archive.files})
    return found


NETLIST = (b"module m (a, b, z);\n  input a, b; output z; wire n1, n2;\n"
           b"  NAND2 u1 (.A(a), .B(b), .ZN(n1));\n  INV u2 (.A(n1), .ZN(n2));\n"
           b"  BUF u3 (.A(n2), .Z(z)); // out\nendmodule\n")
"""What traces are of."""


@cache
def traces() -> list[bytes]:
    return [
        b"insert_gate g BUF\ninsert_net w\ndisconnect_pin u1:ZN\nconnect_pin u1:ZN w\n"
        b"connect_pin g:A w\nconnect_pin g:Z n1\nread_spef x.spef\nreport_slack -pin u1:ZN\n"
        b"remove_gate u2\nremove_net n2\n",
        b"# none\nrepower_gate u1 NAND2_X4\nconnect_pin a n2\ndisconnect_pin z\n"
        b"remove_gate u3\ninsert_gate u3 FA\nconnect_pin u3:S n1\nconnect_pin u3:CO n1\n",
    ]


@cache
def verilog() -> list[bytes]:
    return [
        NETLIST,
        b"module top (input [3:0] v, output z);\n wire [1:0] w; supply0 gnd;\n"
        b" half h0 (.x(v[1:0]), .y(w[0])), h1 (.x({v[3], gnd}), .y(w[1]));\n"
        b" and g (z, w[0], w[1]);\nendmodule\n"
        b"module half (x, y); input [1:0] x; output y;\n xor (y, x[0], x[1]);\n"
        b" assign t = 1'b0; /* tied */\nendmodule\n",
        b"`timescale 1ns/1ps\nmodule \\a.b (c);\n inout c;\n"
        b" CELL \\x[1] (.P(c), .Q({2{c}}));\nendmodule\n",
    ]


@cache
def hmetis() -> list[bytes]:
    """Nets of all sizes, none and one among them, with every kind of weights."""
    found = []
    for number, flags in enumerate((0, 1, 10, 11)):
        chance = random.Random(number)
        nets = [chance.sample(range(1, 10), chance.randrange(7)) for _ in range(6)]
        lines = ["% made here", f"6 9 {flags}" if flags else "6 9"]
        for net in nets:
            weight = [chance.randrange(9)] if flags % 10 else []
            lines.append(" ".join(map(str, weight + net)))
        found.append(_text(lines + [str(chance.randrange(5)) for _ in range(9 * (flags > 9))]))
    return [*found, b"2 3\n1 2\n3 3 2\n", b"0 4\n"]


@cache
def patoh() -> list[bytes]:
    """The same kinds of nets with cells counted from 0 and from 1."""
    found = []
    for number, scheme in enumerate((0, 1, 2, 3)):
        chance = random.Random(number)
        base = number % 2
        nets = [chance.sample(range(base, 9 + base), chance.randrange(1, 7)) for _ in range(6)]
        lines = ["% made here", f"{base} 9 6 {sum(map(len, nets))} {scheme}"]
        for net in nets:
            lines.append(" ".join(map(str, ([chance.randrange(9)] if scheme & 2 else []) + net)))
        found.append(_text([*lines, " ".join(["2"] * 5), "3 1 0 4"] if scheme & 1 else lines))
    return [*found, b"0 3 2 3\n0 1\n2\n", b"1 4 0 0\n"]


@cache
def ispd98() -> list[bytes]:
    return [b"0\n6\n2\n5\n2\na0 s 1\na2 l\np1 l\na1 s\na0 l\np2 l\n",
            b"0\n3\n2\n4\n3\na0 s I\na3 l O\na2 s B\n", b"0\n0\n0\n3\n1\n"]


@cache
def bookshelf() -> list[bytes]:
    return [b"UCLA nets 1.0\n# made here\nNumNets : 2\nNumPins : 5\nNetDegree : 3 n0\n"
            b"  a I : 0 1\n  b O\n  p B : -0.5 0\nNetDegree : 2\n  b I\n  c O\n",
            b"UCLA nets 1.0\n\nNumNets : 1\nNumPins : 2\nNetDegree : 2 x\n\to1 I\n\to1 O\n",
            b"UCLA nets 1.0\nNumNets : 0\nNumPins : 0\n"]


@cache
def module_areas() -> list[bytes]:
    return [b"a0 4\na2 7\na1 1\np1 0\np2 0\n"]


@cache
def cell_areas() -> list[bytes]:
    return [b"# cells of the sample\nINV 0.532\nNAND2 1.064 # two\nBUF 3\nDFF 4.5\nAND 2\n"
            b"OR 2\nCELL 7\nFA 9\n", b"INV 1\n"]


@cache
def nodes() -> list[bytes]:
    return [b"UCLA nodes 1.0\nNumNodes : 4\nNumTerminals : 1\n a 1 2\n b 3 4\n c 5 6 # wide\n"
            b" p 1 1 terminal\n",
            b"UCLA nodes 1.0\nNumNodes : 4\n a 1.5 2\n b 0.25 4\n c 5 6.\n p 1 1.125 terminal\n",
            b"UCLA nodes 1.0\nNumNodes : 5\na 1 2\nq 0 0\nb 2.0 2\nc 5 6\np 1 1\n"]


@cache
def bookshelf_lists() -> list[bytes]:
    return [b"RowBasedPlacement : case.nodes case.nets case.wts case.pl case.scl\n",
            b"# files\nPartProb : case.wts case.nets\n"]


@cache
def bookshelf_weights() -> list[bytes]:
    return [b"UCLA wts 1.0\n# of nodes and nets\na 5\np 0\n n0  7.0\n", b"UCLA wts 1.0\n"]


@cache
def matrix_nets() -> list[bytes]:
    """Matrices that are no square."""
    head = "%%MatrixMarket matrix coordinate {} general"
    return [*matrix_market(), _text([head.format("pattern"), "2 5 3", "1 1", "2 5", "1 4"]),
            _text([head.format("real"), "4 2 3", "4 1 0.5", "1 2 -1e3", "3 1 0"])]


@cache
def blif() -> list[bytes]:
    return [
        b".model m\n.inputs a \\\n b\n.outputs q z # both\n.names a b n\n11 1\n1- 1\n"
        b".latch n q re clk 0\n.names one\n1\n.names n one z\n-1 0\n.end\n",
        b".model top\n.inputs a b\n.outputs z\n.subckt half x=a y=m\n.subckt half x=b y=n\n"
        b".cname second\n.gate nand2 A=m B=n O=z\n.conn b c\n.end\n"
        b".model half\n.inputs x\n.outputs y\n.names x w\n0 1\n.latch w y\n.end\n",
        b".inputs a\n.outputs z\n.subckt ram addr=a data=z\n.end\n.model ram\n.inputs addr\n"
        b".outputs data\n.blackbox\n.end\n",
    ]


@cache
def aiger() -> list[bytes]:
    """Text and binary, the versions 1.0 and 1.9."""
    return [
        b"aag 7 2 1 2 4\n2\n4\n6 8 0\n6\n15\n8 4 10\n10 13 14\n12 2 6\n14 3 7\n"
        b"i0 enable\nl0 state\no1 both\nc\ntoggle\n",
        b"aig 5 2 0 1 3\n10\n\x02\x02\x03\x02\x01\x02i1 x\n",
        b"aag 3 2 0 0 1 1 1 1 1\n2\n4\n6\n7\n2\n2\n4\n0\n6 4 2\n",
        b"aig 300 298 1 1 1\n600\n598\n\x80\x01\x83\x02",
    ]


@cache
def partitions() -> list[bytes]:
    return [b"0\n1\n2\n0\n1\n2\n", b"8 0\n2 1\n5 -1\n", b"% blocks\n0\n-1\n1\n\n0\n1\n1\n",
            b"5\n4\n3\n2\n1\n0"]


@cache
def edge_partitions() -> list[bytes]:
    return [b"0\n1\n0\n0\n1\n", b"2 0\n1 1\n", b"0\n1\n1\n0\n1\n0\n", b"1\n0\n-1\n\n0\n1"]


@cache
def named_partitions() -> list[bytes]:
    return [b"a 0\nb 1\nc 0\nd 2\ne 1\nf f 0\n", b"f f 3\na 1\nb 0\nc 2\nd 1\ne 0\n",
            b"a 1\nb -1\n"]


@cache
def hostfiles() -> list[bytes]:
    return [
        b"node01 slots=4\nnode02 slots=4 max_slots=8\n",
        b"# mine\nnode01:4\n\nnode02:4 binding=rr\n",
        b"a\na\nb\nb\n", b"left right\n", b"node[01-03,07],login1\n", b"r[1-2]n[08-11]-ib:2\n",
        b"10.0.0.1 slots=2\nfe80::1\n+n0\n",
    ]


@cache
def numbers() -> list[bytes]:
    return [b"1,1,2", b"0.25 0.25\n0.5\n", b"3%", b"1/3,1/3,1/3", b"1e-3,2E5,7", b"4:8:6",
            b"1:10:100", b"0.03", b" 1 , 2 , 3 "]


@cache
def matrices() -> list[bytes]:
    return [b"0 1 2\n1 0 1\n2 1 0\n", b"0,5\n5,0\n", b"0 1e1 2.0\n10 0 3\n2 3 0\n", b"0\n"]


@cache
def dense() -> list[bytes]:
    """Square tables with blanks or commas."""
    found = []
    for number, table in enumerate(_tables()):
        gap = (" ", ",", ", ", "\t")[number % 4]
        found.append(_text([gap.join(map(str, row)) for row in table.tolist()]))
    return [*found, b"0 1.5\n1.5 0\n", b"0\n"]


@cache
def npy() -> list[bytes]:
    found = []
    for number, table in enumerate(_tables()):
        buffer = io.BytesIO()
        np.save(buffer, table.astype(("i8", "f8", ">i4", "u1", "?")[number % 5]))
        found.append(buffer.getvalue())
    return found


@cache
def _tables() -> list[np.ndarray]:
    found = []
    for sample in graphs():
        offsets, targets, weights = sample.csr()
        found.append(sparse.csr_array((weights, targets, offsets), shape=(sample.n,) * 2).toarray())
    return found


def _text(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
