"""The options of the functions that partition and map, each declared once.

Checks, the options of the command line, and the tests of signatures and docstrings use these
declarations. What depends on the graph is checked later: its weights, blocks of its vertices, the
objective, the algorithm.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NoReturn

from portpart.errors import InputError, listed, shown
from portpart.graphs import MAX_TOTAL_WEIGHT
from portpart.options import MAX_BLOCKS, checked_flag, checked_integer, nonnegative

if TYPE_CHECKING:
    from typing_extensions import Self

    from portpart.algorithms.multilevel import Progress
    from portpart.graphs import Blocks, Numbers
    from portpart.options import Configuration, WrittenNumber

MAX_SEED = 2**62

UNTIL_LIMIT = "until_limit"
"""The value of `rounds` for as many rounds as time allows."""

SESSION_MIGRATION = 0.05
"""The default of `migration` in sessions."""

Check = Callable[[str, Any], Any]


def declared(default: Any, sentence: str, check: Check | None = None, *, shell: str = "",
             metavar: str | None = None, choices: tuple[str, ...] = (),
             others: tuple[str, ...] = ()) -> Any:
    """Declare an option.

    Parameters
    ----------
    default : object
        ``MISSING`` if there is none.
    sentence : str
        Its meaning: the first sentence of docstrings and of the command line's help.
    check : callable, optional
        Returns the checked value, from name and value. None is not checked if it is the
        default.
    shell : str
        Addition of the command line to the sentence.
    metavar : str, optional
        Placeholder for a value there.
    choices : tuple of str
        The allowed values.
    others : tuple of str
        Names in METIS, KaHIP, Mt-KaHyPar, scikit-learn and others.
    """
    if check is None and choices:
        def check(name: str, value: Any) -> str:
            return one_of(name, value, choices)
    return field(default=default, metadata={
        "sentence": sentence, "check": check, "shell": shell, "metavar": metavar,
        "choices": choices, "others": others})


def integer(low: int, high: int) -> Check:
    """Return a check of integers."""
    return lambda name, value: checked_integer(name, value, low, high)


def start(name: str, value: Any) -> int:
    """Check a seed; None is 0."""
    return 0 if value is None else checked_integer(name, value, 0, MAX_SEED)


def one_of(name: str, value: Any, known: tuple[str, ...]) -> str:
    """Check one of some words."""
    if not isinstance(value, str) or value not in known:
        raise InputError(f"{name} is {shown(value)}; it must be one of {listed(known)}")
    return value


def seconds(name: str, value: Any) -> float:
    """Check a limit of time in seconds."""
    try:
        limit = float(value)
    except (TypeError, ValueError, OverflowError):
        limit = math.nan
    if not limit >= 0:
        raise InputError(f"{name} is {shown(value)}; it must be a number of seconds, 0 or more")
    return limit


def number_of_rounds(name: str, value: Any) -> int | str:
    """Check a number of rounds, or the word for as many as time allows."""
    if not isinstance(value, (str, bool)):
        return checked_integer(name, value, 1, MAX_BLOCKS)
    if value == UNTIL_LIMIT:
        return value
    if isinstance(value, str) and value.isdecimal() and len(value) < 20:
        return checked_integer(name, int(value), 1, MAX_BLOCKS)
    raise InputError(f"{name} is {shown(value)}; it must be a number of rounds or {UNTIL_LIMIT!r}")


def device_name(name: str, value: Any) -> str:
    """Check the name of a device."""
    if not isinstance(value, str):
        raise InputError(f"{name} is {shown(value)}; it must be 'auto', 'cpu', 'cuda' or 'cuda:N'")
    return "cpu" if value == "cpu:0" else value


def callback(name: str, value: Any) -> Progress:
    """Check a callable that gets reports."""
    if not callable(value):
        raise InputError(f"{name} is {shown(value)}; it must be callable, True or False")
    called: Progress = value
    return called


@dataclass(frozen=True, eq=False)
class CallOptions:
    """The options of a call, as given or `checked`.

    Its fields are the table of all options. Each function has some of them.
    """

    k: int = declared(MISSING, "Number of blocks.", integer(1, MAX_BLOCKS), others=(
        "nparts", "n_parts", "num_parts", "parts", "nblocks", "n_blocks", "num_blocks", "blocks",
        "num_partitions", "npartitions", "n_clusters"))
    imbalance: float | str = declared(
        0.03, "A block weighs at most (1 + imbalance) times the average.", metavar="FRACTION",
        others=("epsilon", "eps", "ubvec", "ubfactor", "ufactor", "max_imbalance", "tolerance"))
    vertex_weights: Numbers | None = declared(None, "Weights of the vertices.", others=(
        "vwgt", "vweights", "node_weights", "nodew"))
    edge_weights: Numbers | None = declared(None, "Weights of the edges.", others=(
        "adjwgt", "eweights", "weight"))
    net_weights: Numbers | None = declared(None, "Weights of the nets of a hypergraph.", others=(
        "hyperedge_weights", "hewgts", "nwghts"))
    target: Numbers | None = declared(
        None, "Target share of each block in the total weight.", metavar="SHARES",
        shell="In any unit: 1,1,2 or @FILE. Default: equal shares.",
        others=("tpwgts", "target_weights", "block_sizes"))
    fixed: Blocks | None = declared(
        None, "Fixed block of each vertex, -1 for free vertices.", metavar="FILE",
        shell="A block per line; or lines of a vertex (from 1) and a block.")
    initial: Blocks | None = declared(None, "Initial partition, which is improved.", metavar="FILE",
                            shell="One block per line.")
    min_block_weight: int | None = declared(None, "Minimum weight of every block.",
                                            integer(0, MAX_TOTAL_WEIGHT))
    objective: str | None = declared(
        None, "Objective that is minimised.", lambda _, value: value,
        choices=("cut", "volume", "km1", "soed"),
        shell="Graphs: cut (default), volume. Hypergraphs: km1 (default), cut, soed.")
    vertex_sizes: Numbers | None = declared(None, "Sizes of the vertices.", others=("vsize",))
    migration: WrittenNumber = declared(
        1, "Migration cost factor: cost of moving a vertex of size 1, in edge or net weight.",
        nonnegative, metavar="FACTOR", others=("itr",))
    max_migration: WrittenNumber | None = declared(
        None, "Limit of the migration volume.", metavar="SIZE",
        shell="A size, or a share of all sizes as 10%.")
    algorithm: str | None = declared(None, "Name of the algorithm.")
    preset: str | Configuration = declared(
        "default", "Name of a preset of the algorithm, or a configuration.",
        others=("quality", "mode", "config"))
    swaps: bool | None = declared(None, "Whether blocks swap places at the end.", checked_flag,
                                  shell="Default: that of the preset.")
    device: str = declared("auto", "Device that the call works on.", device_name,
                           shell="cpu, cuda, cuda:1 ...")
    devices: str | Sequence[int | str] | None = declared(
        None, "GPUs that work together on the graph.", metavar="LIST",
        shell="all, or numbers such as 0,1.")
    seed: int | None = declared(0, "Seed of all random numbers.", start,
                                others=("random_state", "rng"))
    threads: int | None = declared(
        None, "Maximum number of CPU threads.", integer(1, MAX_BLOCKS),
        shell="Default: all cores.",
        others=("num_threads", "n_threads", "nthreads", "n_jobs"))
    starts: int | None = declared(
        None, "Number of initial partitions of the coarsest graph.", integer(1, MAX_BLOCKS),
        shell="Default: that of the preset.", others=("ncuts", "n_starts", "num_starts"))
    time_limit: float | None = declared(None, "Seconds after which no new step begins.", seconds,
                                        metavar="SECONDS", others=("timeout", "max_time"))
    rounds: int | str | None = declared(
        None, "Number of rounds of a population after the search of the preset.", number_of_rounds,
        shell="Or until_limit, with --time-limit; Ctrl-C ends them. For --preset best.",
        metavar="ROUNDS", others=("generations", "num_rounds"))
    symmetrize: bool | str = declared(False, "Accept a directed graph.")
    weights: bool | str | None = declared(
        None, "Treatment of edge weights that are negative or not integers.")
    weight_scale: float | None = declared(None, "Scale of weights that are rounded.")
    escalate: str = declared(
        "auto", "Whether all levels are refined when many edits or a worse objective require it.",
        choices=("auto", "never"))
    effort: str = declared("auto", "How much is refined after a batch.",
                           choices=("auto", "none", "local", "cycle", "full"))
    progress: Progress | bool | None = declared(None, "Progress reports.", callback,
                                                others=("verbose", "verbosity"))
    begin: float = field(default_factory=time.perf_counter)

    @property
    def deadline(self) -> float:
        """The reading of ``time.perf_counter`` after which no new step begins."""
        return math.inf if self.time_limit is None else self.begin + self.time_limit

    @property
    def most_rounds(self) -> float:
        """The number of rounds; infinite for rounds until the limit of time."""
        return math.inf if isinstance(self.rounds, str) else self.rounds or 0

    @property
    def report(self) -> Progress | None:
        """The callable that gets reports, or None."""
        return self.progress if callable(self.progress) else None

    def checked(self) -> Self:
        """Return the options with checked values.

        Raises
        ------
        InputError
            If a value is invalid.
        """
        from portpart.metrics import block_weight_limits

        given = {name: getattr(self, name) for name in TABLE}
        found = replace(self, **CONVERTED | {
            name: checked(name, value) for name, value in given.items()
            if value is not TABLE[name].default})
        if found.rounds == UNTIL_LIMIT and found.time_limit is None:
            raise InputError(f"rounds is {UNTIL_LIMIT!r} and time_limit is missing; pass "
                             "time_limit=60, for example")
        # refuse a bad imbalance or target before any work
        block_weight_limits(0, 1 if self.target is None else found.k, self.imbalance, self.target)
        return found


TABLE: dict[str, Field[Any]] = {each.name: each for each in fields(CallOptions) if each.metadata}

OTHERS = {other: name for name, each in TABLE.items() for other in each.metadata["others"]}
"""Names of other partitioners, with the option that each means."""


def checked(name: str, value: Any) -> Any:
    """Return the checked value of one option.

    Raises
    ------
    InputError
        If the value is invalid.
    """
    check: Check | None = TABLE[name].metadata["check"]
    is_default = value is None and TABLE[name].default is None
    return value if check is None or is_default else check(name, value)


CONVERTED = {name: value for name, each in TABLE.items()
             if each.default is not MISSING and (value := checked(name, each.default))
             is not each.default}
"""The defaults that checks convert; the others stay as they are, and are not checked again."""


# Keywords of other partitioners, and misspelt ones: the option of the function that is meant ----


def keywords_of(function: Callable[..., Any]) -> frozenset[str]:
    """Return the names of the parameters of a Python function."""
    code = function.__code__
    return frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


def refuse_keyword(function: Callable[..., Any], given: Iterable[str]) -> NoReturn:
    """Raise for the first keyword that a function does not have, naming the one it has."""
    known = keywords_of(function)
    wrong = next(name for name in given if name not in known)
    meant = [name for name in [OTHERS.get(wrong)] if name in known] or get_close_matches(
        wrong, sorted(known - {"self"}), 1)
    hint = f"; did you mean {meant[0]}=?" if meant else ""
    raise TypeError(f"{function.__qualname__}() got an unexpected keyword argument {wrong!r}{hint}")
