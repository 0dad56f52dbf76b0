"""Names of the holidays that follow the moon."""

from collections.abc import Callable
from datetime import date

MOON_HOLIDAYS: dict[str, Callable[[int], date | None]] = {}
