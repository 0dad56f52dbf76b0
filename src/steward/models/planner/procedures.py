"""Procedures: several steps in an order of their own, which a domain brings along.

Where a reader says what one sentence means, a procedure says how something is done: it sees the whole turn
and decides the next step until the work is done. Tools bring a procedure along by naming it in their
definition's metadata (`procedure`); the planner is given procedures by name and asks them first.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol, runtime_checkable

from steward.models.planner.decisions import Decision
from steward.models.planner.dialogue import Dialogue
from steward.models.planner.ranking import KnownTool, Scored

PROCEDURE = "procedure"  # the metadata key
ASKED = "procedure"  # the kind of a question that a procedure asked, whose answer comes back to it


class Procedure(Protocol):
    def decide(
        self, dialogue: Dialogue, tools: Sequence[KnownTool], *, ranked: Sequence[Scored], now: datetime
    ) -> Decision | None:
        """The next step, or None when this turn is not this procedure's business.

        `ranked` are all tools of the turn by how well they fit what was said, best first. A pure function:
        the same turn gives the same step.
        """
        ...


@runtime_checkable
class LastResort(Protocol):
    """A procedure that is asked once more before it is said that nothing fits."""

    def rescue(self, dialogue: Dialogue, tools: Sequence[KnownTool], now: datetime) -> Decision | None: ...


@runtime_checkable
class Completing(Protocol):
    """A procedure that knows what a sentence leaves out because it was said before."""

    def complete(self, dialogue: Dialogue, now: datetime) -> Dialogue:
        """The same turn with its sentence said in full; unchanged where nothing is left out."""
        ...
