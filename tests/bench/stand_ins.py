"""Children that stand in for a peer: each answers like `bench.worker.serve` until it misbehaves."""

from __future__ import annotations

import sys
import time
from multiprocessing.connection import Connection


def dies_at_the_second_job(channel: Connection, *_: object) -> None:
    channel.recv()
    channel.send({"ready": True})
    channel.recv()
    channel.send({"seconds": 1.0, "part": [0] * 4})
    channel.recv()
    sys.exit("out of luck")


def dies_at_once(channel: Connection, *_: object) -> None:
    channel.recv()
    channel.send({"ready": True})
    channel.recv()
    sys.exit("no")


def sleeps(channel: Connection, *_: object) -> None:
    channel.send({"ready": True})
    time.sleep(60)


def is_missing(channel: Connection, *_: object) -> None:
    channel.send({"unavailable": "not installed"})
    channel.recv()
