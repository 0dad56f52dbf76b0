"""Due dates as people say them. Pure."""

from datetime import date, datetime

NEAR_DAYS = 7


def due_words(due_date: str, now: datetime) -> str:
    """ "today", "tomorrow 17:00", "Friday", "2 days ago", "3 Mar 2027"; `now` is in the reader's zone."""
    day, clock = _read(due_date, now)
    return f"{_day_words(day, now.date())} {clock:%H:%M}" if clock else _day_words(day, now.date())


def is_overdue(due_date: str, now: datetime) -> bool:
    """A day is over when it has passed, a moment at once."""
    day, clock = _read(due_date, now)
    return day < now.date() if clock is None else clock < now


def _read(due_date: str, now: datetime) -> tuple[date, datetime | None]:
    if "T" not in due_date:
        return date.fromisoformat(due_date), None
    moment = datetime.fromisoformat(due_date).astimezone(now.tzinfo)
    return moment.date(), moment


def _day_words(day: date, today: date) -> str:
    days = (day - today).days
    near = {-1: "yesterday", 0: "today", 1: "tomorrow"}.get(days)
    if near:
        return near
    if -NEAR_DAYS < days < 0:
        return f"{-days} days ago"
    if 0 < days < NEAR_DAYS:
        return day.strftime("%A")
    written = f"{day.day} {day:%b}"
    return written if day.year == today.year else f"{written} {day.year}"
