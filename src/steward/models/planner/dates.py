"""The planner's dates, read by the task language's grammar: as good as people's own words for them."""

from collections.abc import Sequence
from datetime import datetime

from steward.language.dates.find import find_dates
from steward.language.dates.mention import DateMention
from steward.language.dates.tense import behind_us
from steward.models.planner.readers import DateFound


def spoken_dates(text: str, now: datetime) -> Sequence[DateFound]:
    """Both dates of "from X to Y", each with its own words."""
    found = find_dates(text, now)
    if any(behind_us(text, each.span[0]) for each in found):
        past = {each.span: each for each in find_dates(text, now, prefer_future=False)}
        found = tuple(past.get(each.span, each) if behind_us(text, each.span[0]) else each for each in found)
    return [_found(each, end) for mention in found for each, end in _ends(mention)]


def _ends(mention: DateMention) -> Sequence[tuple[DateMention, int]]:
    """Each date of a mention, and where its words end."""
    if mention.until is None:
        return [(mention, mention.span[1])]
    return [(mention, mention.until.span[0]), (mention.until, mention.until.span[1])]


def _found(mention: DateMention, end: int) -> DateFound:
    return DateFound(
        mention.span[0], end, value=mention.start, has_time=mention.has_time, has_day=not mention.time_only
    )
