"""An exchange at the beginning of a loop is done while the flag of the loop travels to the host."""

from __future__ import annotations

import pytest

from portpart import backends
from portpart.backends.communication import Local
from portpart.backends.cuda.segments import Segments, Test as FlagTest
from portpart.backends.cuda.side_by_side import SideBySide
from portpart.backends.programs.steps import AllToAll
from tests.backends.programs.test_segments import (
    LOOPS,
    SUM,
    N,
    Recorder,
    begin_loop,
    deal,
    end_round,
    gather_up,
    ran,
    stir,
)
from tests.helpers.ranks.rank_rows import DEVICES, space_of


class Rounds(Recorder):
    """So many rounds in which ranks deal; maybe within others, maybe with what arrives read later.
    """

    def __init__(self, ranks: int, times: int, outer: bool, reads: str) -> None:
        self.outer, self.reads, self.times = outer, reads, times
        super().__init__(0, ranks)
        self.program.name = f"rounds {ranks} {times} {outer} {reads}"

    def block(self, depth: int) -> None:
        if not self.outer:
            self._rounds(0)
            return
        self.program.launch(1, begin_loop, depth=1, times=3)
        with self.program.while_loop(self.control[LOOPS + 1]):
            if self.reads == "before":
                self.program.launch(1, gather_up, ranks=self.ranks)
            self._rounds(0)
            self.program.all_reduce(self.control, SUM, 1, "max")
            self.program.launch(1, end_round, depth=1)

    def _rounds(self, depth: int) -> None:
        self.program.launch(1, begin_loop, depth=depth, times=self.times)
        with self.program.while_loop(self.control[LOOPS + depth]):
            self.program.launch(N, stir, amount=3)
            self.deal(depth)
            self.program.launch(N, stir, amount=2)
            self.program.launch(1, deal, ranks=self.ranks)  # packed, but not sent
            self.program.launch(1, end_round, depth=depth)
        if self.reads == "behind":
            self.program.launch(1, gather_up, ranks=self.ranks)


@pytest.mark.parametrize("name", ["host-cuda", *DEVICES])
@pytest.mark.parametrize(("outer", "reads", "ahead"), [
    (False, "", True), (True, "", True), (False, "behind", False), (True, "before", False)])
@pytest.mark.parametrize("times", [0, 1, 4])
def test_the_first_exchange_of_the_next_round_may_be_done_before_its_flag_is_known(
        name, outer, reads, ahead, times, monkeypatch):
    """When the rounds end it has been done in vain, which nobody may notice."""
    here, cpu = space_of(name), backends.space("cpu", threads=1)
    program, done = Rounds(2, times, outer, reads).program, []
    exchange = SideBySide._exchange

    def noting(self, place, count):
        prepared = exchange(self, place, count)
        if isinstance(self._runs[0].line[place].step, AllToAll):
            return lambda: (done.append(place), prepared())[1]
        return prepared

    monkeypatch.setattr(SideBySide, "_exchange", noting)
    tests = [each for each in Segments(program).line if isinstance(each, FlagTest)]
    assert tests[-1].exchanges == ahead
    wanted = Local(2).run(lambda comm: ran(cpu, program, comm))
    assert Local(2).run(lambda comm: ran(here, program, comm)) == wanted
    rounds = times + (ahead and times > 0)
    assert len(done) == 2 * rounds * (3 if outer else 1)  # two runs
