"""When a session does more than its edits ask for: the conditions of docs/howto/sessions.md."""

from __future__ import annotations

import pytest

from portpart.sessions.update import EscalationState


@pytest.mark.parametrize(("edits", "effort"), [
    (0, "local"), (25, "local"), (26, "cycle"), (500, "cycle"), (501, "full"),
])
def test_many_edits_ask_for_more(edits: int, effort: str) -> None:
    """Of 1,000 arcs, more than one in 40 and more than half."""
    assert EscalationState(edits, 700, 2000, hopeless=False).effort(700, 2000, 1000, True) == effort


@pytest.mark.parametrize(("cost", "weight", "effort"), [
    (735, 2000, "local"), (736, 2000, "cycle"), (736, 2200, "local"), (1440, 3900, "cycle"),
])
def test_growth_of_the_objective_asks_for_all_levels(cost: int, weight: int, effort: str) -> None:
    """By more than 5 %, beside the weight of all edges; where nothing was edited it does not."""
    ledger = EscalationState(1, 700, 2000, hopeless=False)
    assert ledger.effort(cost, weight, 1000, True) == effort
    assert ledger._replace(edits=0).effort(cost, weight, 1000, True) == "local"


def test_broken_bounds_ask_for_all_levels_where_they_can_be_kept() -> None:
    for hopeless in (False, True):
        effort = EscalationState(1, 700, 2000, hopeless).effort(700, 2000, 1000, False)
        assert effort == ("local" if hopeless else "cycle")
