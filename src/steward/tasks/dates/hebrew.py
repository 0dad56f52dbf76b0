"""The Hebrew calendar by its arithmetic rules. Its days begin at sunset, so a holiday is dated by its eve."""

from datetime import date, timedelta

_EPOCH = -1373428  # ordinal of 1 Tishri of year 1, less one
NISAN, IYAR, SIVAN, AV, TISHRI, KISLEV, SHEVAT, ADAR = 1, 2, 3, 5, 7, 9, 11, 12


def _elapsed(year: int) -> int:
    """Days from the epoch to the new year, with its postponements."""
    months = (235 * year - 234) // 19
    parts = 12084 + 13753 * months
    day = 29 * months + parts // 25920
    if 3 * (day + 1) % 7 < 3:
        day += 1
    return day


def _new_year(year: int) -> int:
    before, this, after = _elapsed(year - 1), _elapsed(year), _elapsed(year + 1)
    if after - this == 356:
        delay = 2
    elif this - before == 382:
        delay = 1
    else:
        delay = 0
    return _EPOCH + this + delay


def _is_leap(year: int) -> bool:
    return (7 * year + 1) % 19 < 7


def _length(year: int, month: int) -> int:
    size = _new_year(year + 1) - _new_year(year)
    if month in (2, 4, 6, 10, 13) or (month == 12 and not _is_leap(year)):
        return 29
    if (month == 8 and size % 10 != 5) or (month == 9 and size % 10 == 3):
        return 29
    return 30


def gregorian(year: int, month: int, day: int) -> date:
    """The civil day whose daylight is that of the Hebrew date."""
    last = 13 if _is_leap(year) else 12
    before = range(TISHRI, month) if month >= TISHRI else [*range(TISHRI, last + 1), *range(1, month)]
    return date.fromordinal(_new_year(year) + sum(_length(year, m) for m in before) + day)


def eve(year: int, month: int, day: int) -> date:
    """The evening in a civil year on which the Hebrew date begins."""
    hebrew = year + 3761 if month in (TISHRI, KISLEV) else year + 3760
    if month == ADAR and _is_leap(hebrew):
        month = 13
    return gregorian(hebrew, month, day) - timedelta(days=1)
