"""What sessions return, sent to other processes or kept in logs."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import portpart
from portpart import generators
from portpart.errors import InputError
from tests import oracles
from tests.helpers.nets import circuit
from tests.oracles import nets as net_oracles

COPIES: list[Callable[[Any], Any]] = [lambda thing: pickle.loads(pickle.dumps(thing)), copy.copy,
                                      copy.deepcopy]
WAYS = pytest.mark.parametrize("copied", COPIES, ids=["pickle", "copy", "deepcopy"])


@WAYS
def test_an_update_takes_its_values_along(copied: Callable[[Any], Any]) -> None:
    """Those too that nobody has asked for yet; the session may go on afterwards."""
    session = portpart.Session(circuit(60, 3), 2)
    update = session.apply(session.batch())
    expected = net_oracles.values(session.graph(), session.part)
    again = copied(update)
    batch = session.batch()
    batch.delete_vertices([1, 2, 3, 4])
    session.apply(batch)
    assert {name: getattr(again, name) for name in expected} == expected
    assert again.block_weights.tolist() == update.block_weights.tolist()
    plain = [name for name in vars(update) if name not in ("measure", "block_weights")]
    assert [getattr(again, name) for name in plain] == [getattr(update, name) for name in plain]
    assert repr(again) == repr(update)


@WAYS
def test_what_an_update_knows_no_more_its_copy_does_not_make_up(
        copied: Callable[[Any], Any]) -> None:
    session = portpart.Session(circuit(60, 3), 2)
    update = session.apply(session.batch())
    session.apply(session.batch())
    again = copied(copied(update))
    assert again.km1 == update.km1
    with pytest.raises(AttributeError, match="soed of this state is no longer known"):
        again.soed  # noqa: B018


@WAYS
def test_an_update_of_a_graph_has_a_cut_and_nothing_else(copied: Callable[[Any], Any]) -> None:
    session = portpart.Session(generators.grid_2d(8), 2)
    again = copied(session.apply(session.batch()))
    assert again.cut == oracles.cut(session.graph(), session.part)
    with pytest.raises(AttributeError, match="a graph has a cut, no km1"):
        again.km1  # noqa: B018


@WAYS
def test_a_batch_stays_with_its_session(copied: Callable[[Any], Any]) -> None:
    for given in (generators.grid_2d(4), circuit(20, 3)):
        batch = portpart.Session(given, 2).batch()
        with pytest.raises(InputError, match="neither pickled nor copied"):
            copied(batch)
