"""What the steps of a GPU report share: the device, the clock and the files."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Session:
    """A run of bench.gpu.

    Attributes
    ----------
    device : str
    deadline : float
        End of everything, by `time.monotonic`.
    output : Path
        Folder of report.md and results.json.
    report : dict
        Results by step.
    """

    device: str
    deadline: float
    output: Path
    report: dict[str, Any] = field(default_factory=dict)
    step_deadline: float = 0.0

    def allow(self, share: float) -> None:
        """Begin a step that may take this share of the time left."""
        now = time.monotonic()
        self.step_deadline = now + share * max(0.0, self.deadline - now)

    def seconds_left(self) -> float:
        """Return what the step has left."""
        return self.step_deadline - time.monotonic()

    def is_late(self) -> bool:
        return self.seconds_left() <= 0

    def space(self) -> Any:
        """Return the execution space of the device."""
        import portpart

        return portpart.space(self.device)

    def save(self, markdown: Callable[[dict[str, Any]], str]) -> None:
        """Write both files anew, each in one piece."""
        self.output.mkdir(parents=True, exist_ok=True)
        for name, text in (("results.json", json.dumps(self.report, indent=1)),
                           ("report.md", markdown(self.report))):  # fmt: skip
            draft = self.output / f".{name}"
            draft.write_text(text)
            draft.replace(self.output / name)
