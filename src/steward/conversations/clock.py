"""What time it is for whoever speaks: their own zone, not the machine's.

Owns the zone of the turn that runs now. Everything a turn says about dates goes by this clock.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, tzinfo

_zone: ContextVar[tzinfo | None] = ContextVar("speakers_zone", default=None)


def now_for_speaker() -> datetime:
    """In the zone of the turn that runs now; outside of one, in the machine's."""
    return datetime.now(UTC).astimezone(_zone.get())


@contextmanager
def in_zone(zone: tzinfo | None) -> Generator[None]:
    """What happens inside happens in this zone; None is the machine's."""
    token = _zone.set(zone)
    try:
        yield
    finally:
        _zone.reset(token)
