"""Runs of programs that communicate: a program is left at each step of communication."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from portpart.backends import communication, programs


class CommunicatingRun:
    """A run that has been left at a step of communication.

    Parameters
    ----------
    step : Communication or None
        The step; None if the run has ended.
    resume : callable
        Runs the program up to the next step, and returns that step, or None.
    bound : dict
        The arrays of the program, by the names of their slots.
    """

    arrays: Sequence[programs.Array] = ()
    """Arrays in host memory need no work to become visible to other threads."""

    def __init__(self, step: programs.Communication | None,
                 resume: Callable[[], programs.Communication | None],
                 bound: Mapping[str, Any]) -> None:
        self.step, self._resume, self._bound = step, resume, bound

    def call(self) -> communication.Operation | None:
        """Return the step with its arrays; None if the run has ended."""
        return None if self.step is None else communication.operation_of(self.step, self._bound)

    def resume(self) -> None:
        """Run up to the next step."""
        self.step = self._resume()

    def run_alone(self, prepared: Callable[[communication.Operation],
                                           Callable[[], object]]) -> None:
        """Run while other processes run the program."""
        while (call := self.call()) is not None:
            prepared(call)()
            self.resume()

    def run_together(self, runs: Sequence[CommunicatingRun],
                     prepared: Callable[[Sequence[communication.Operation]],
                                        communication.Prepared],
                     goes_on: Callable[[], bool]) -> None:
        """Run together with the runs of other ranks: all up to the next step, one by one."""
        while goes_on() and any(run.step is not None for run in runs):
            calls = [run.call() for run in runs]
            communication.require_same(
                ["has ended its program" if call is None
                 else f"is at {communication.described(call)}" for call in calls])
            prepared([call for call in calls if call is not None])()
            for rank, run in enumerate(runs):
                try:
                    run.resume()
                except Exception as problem:
                    raise communication.Refused(rank, problem) from None
