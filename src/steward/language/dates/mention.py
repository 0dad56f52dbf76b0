"""What reading a date gives: the date, how precise it is, and where it stood in the text."""

from dataclasses import dataclass
from datetime import datetime

from steward.language.dates.calendar import Grain, floor


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date found in a text.

    `value` is as exact as the words allow ("in 3 days" keeps the time of now), `grain` says how
    precise the speaker was, `end` closes an interval (exclusive), `span` is what the words covered, with
    those of a second date, and `time_only` says that no day was named ("at 5"), so that a known day may be
    kept.
    """

    value: datetime
    grain: Grain
    span: tuple[int, int]
    end: datetime | None = None
    holiday: bool = False
    time_only: bool = False
    until: "DateMention | None" = None  # the second date of "from X to Y", in its own words

    @property
    def start(self) -> datetime:
        """The value at its own grain: midnight for a day, Monday for a week."""
        return floor(self.value, self.grain)

    @property
    def has_time(self) -> bool:
        return self.grain.rank < Grain.DAY.rank
