"""One case: its bytes, and what comes of them."""

from __future__ import annotations

import traceback
import warnings
import zlib
from pathlib import Path
from random import Random

import portpart
from portpart.errors import InternalError, OutOfMemory, PortpartError
from tests.fuzz.judge import Wrong
from tests.fuzz.limits import TooSlow, at_most_seconds
from tests.fuzz.targets import TARGETS

ACCEPTED, REFUSED = "accepted", "refused"

PACKAGE = Path(portpart.__file__).parent


def bytes_of(target: str, seed: int, number: int) -> bytes:
    """The input of a case; the same on every machine."""
    return TARGETS[target].make(Random(zlib.crc32(f"{target} {seed} {number}".encode())))


def outcome(target: str, data: bytes, folder: Path, seconds: float) -> str:
    """`ACCEPTED`, `REFUSED`, or what is unclean and where it comes from."""
    try:
        with warnings.catch_warnings(), at_most_seconds(seconds):
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            TARGETS[target].check(data, folder)
    except (InternalError, OutOfMemory) as error:
        return _described(error)
    except PortpartError:
        return REFUSED
    except TooSlow as error:
        return f"too slow{_place(error)}"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return _described(error)
    return ACCEPTED


def _described(error: BaseException) -> str:
    words = f": {error}" if isinstance(error, Wrong) else ""
    return f"{type(error).__name__}{_place(error)}{words}"


def _place(error: BaseException) -> str:
    """The innermost function of the library that the error passed."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if Path(frame.filename).is_relative_to(PACKAGE)]
    if not frames:
        return ""
    return f" in {Path(frames[-1].filename).relative_to(PACKAGE)}:{frames[-1].name}"
