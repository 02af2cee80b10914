"""Communication between ranks: the protocol, one rank, and ranks that take turns in one process."""

from __future__ import annotations

from portpart.backends.communication.errors import CommunicationError, RankFailed
from portpart.backends.communication.local import Local
from portpart.backends.communication.one import One
from portpart.backends.communication.protocol import Communicator

__all__ = ["CommunicationError", "Communicator", "Local", "One", "RankFailed"]
