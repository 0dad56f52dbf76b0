"""The planner's dates, read by the task language's grammar: as good as people's own words for them."""

from collections.abc import Sequence
from datetime import datetime

from steward.models.planner.readers import DateFound
from steward.tasks.dates.find import find_dates


def spoken_dates(text: str, now: datetime) -> Sequence[DateFound]:
    return [
        DateFound(*mention.span, value=mention.start, has_time=mention.has_time)
        for mention in find_dates(text, now)
    ]
