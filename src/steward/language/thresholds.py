"""Every number that a reading is decided by, in one place, each with its unit and how it was set."""

from dataclasses import dataclass

MANY = 10  # the usual number of tools beside a request


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Probabilities. Set by scripts/reader/tune.py on tools that were left out of teaching.

    Of many tools, one stands out by luck. `judged_of_many` was set on tests/requests/ (270 requests, 80
    tools): .7 refuses 3 of the 7 requests that no tool serves and that .5 would take, and 1 of the 155 that
    the first tool serves. `alone` lies between what tune.py gave before and after the third teaching:
    .4 and .15. `fit` and `named_fit` were set with tests/unit/agents/tasks in sight. `required` and
    `required_choice` were set with tests/requests/calls.jsonl and the suite in sight: no kind of call moved
    by more than .03 (docs/decisions/0146).
    """

    alone: float = 0.3  # from here on a tool serves a request of which only the pair was looked at
    fit: float = 0.25  # the same for a command to a specialist, whose tools all name one reader
    named_fit: float = 0.12  # and where it begins with the verb of the tool
    judged: float = 0.5  # the same where request and tool were also compared apart
    judged_of_many: float = 0.7  # and where it is one of many tools that the request does not speak of:
    spoken_of: float = 0.5  # the share of what a tool says of itself, from which a request speaks of it
    denied: float = 1e-5  # below it nothing is asked for that a tool lacks, however like the request it is
    also: float = 0.85  # from here on a further tool is meant too, where several calls are wanted
    one_call: float = 0.3  # below it a tool is looked at for several calls
    one_tool: float = 0.5  # below it several calls are wanted in all
    optional: float = 0.15  # what must speak for a value that may be left out
    required: float = 0.06  # and for one that must not
    there_share: float = 0.7  # how much of that is the slot being mentioned at all
    required_there_share: float = 0.0  # and how much of what speaks for a value that must be there
    listed: float = 0.15  # for a member of a list
    several: float = 0.15  # for a value of one of several calls
    start: float = 0.35  # for the place where a further call begins
    choice: float = 0.45  # for a choice of the schema
    required_choice: float = 0.2  # and where one is needed
    act: float = 0.5  # the share from which somebody only talks, wishes for something or asks
    surely_talk: float = 0.9  # from here on it is no part of a request, and no tool of another is meant
    faintest: float = 0.004  # pieces below it are not looked at


DEFAULT = Thresholds()
