"""Every number that a reading is decided by, in one place, each with its unit and how it was set."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Probabilities. Set by scripts/reader/tune.py on tools that were left out of teaching."""

    fit: float = 0.4  # from here on a tool serves a request
    judged: float = 0.5  # the same where request and tool were also compared apart
    also: float = 0.85  # from here on a further tool is meant too, where several calls are wanted
    one_call: float = 0.3  # below it a tool is looked at for several calls
    one_tool: float = 0.5  # below it several calls are wanted in all
    optional: float = 0.15  # what must speak for a value that may be left out
    required: float = 0.1  # and for one that must not
    there_share: float = 0.7  # how much of that is the slot being mentioned at all
    listed: float = 0.15  # for a member of a list
    several: float = 0.15  # for a value of one of several calls
    start: float = 0.35  # for the place where a further call begins
    choice: float = 0.45  # for a choice of the schema
    required_choice: float = 0.05  # and where one is needed
    faintest: float = 0.004  # pieces below it are not looked at


DEFAULT = Thresholds()
