"""Manners without a language model: a procedure for the planner.

It answers a greeting as one, and says of general knowledge that it has none, with an offer to look it up.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from steward.agents.house_reader import speaks_of_tasks, understands
from steward.agents.research.questions import asks_to_know
from steward.models.planner.decisions import Decision, Tell
from steward.models.planner.dialogue import Dialogue
from steward.models.planner.ranking import THRESHOLD, KnownTool, Scored

MANNERS, TASK_MANNERS, NO_FACTS = "manners", "task-manners", "no-facts"
_HELLO = (
    r"(?:hi|hey|hello|howdy|greetings|good (?:morning|afternoon|evening|day))(?: there| steward| again| all)?"
)
_SAID = (
    (re.compile(rf"^{_HELLO}[\s,!.]*(?:how are you(?: doing)?(?: today)?\??)?$", re.IGNORECASE), "Hello!"),
    (
        re.compile(
            r"^(?:ok(?:ay)?,? |great,? )?(?:thanks?(?: you)?|thx|cheers|much appreciated)\b[^?]{0,60}$",
            re.IGNORECASE,
        ),
        "You're welcome.",
    ),
    (
        re.compile(r"^(?:how are you(?: doing)?(?: today)?|how'?s it going|what'?s up)\W*$", re.IGNORECASE),
        "I'm ready.",
    ),
    (re.compile(r"^(?:bye|goodbye|see you(?: later| soon)?|good ?night)\W*$", re.IGNORECASE), "Goodbye!"),
    (re.compile(r"^(?:nice|good|pleased) to meet you\W*$", re.IGNORECASE), "Likewise."),
)
LOOK_IT_UP = (
    "I work without a language model here and know no facts of my own. I can look it up: "
    "say “search the web for …”, or ask the researcher."
)
OFFER = "What can I do for you? Ask “what can you do?” to see it all."


@dataclass(frozen=True, slots=True)
class Manners:
    """Implements the planner's `Procedure`."""

    offer: str = OFFER  # what follows the courtesy: what one can do here

    def decide(
        self,
        dialogue: Dialogue,
        tools: Sequence[KnownTool],  # noqa: ARG002 - the interface's
        *,
        ranked: Sequence[Scored],  # noqa: ARG002
        now: datetime,  # noqa: ARG002
    ) -> Decision | None:
        said = small_talk(dialogue.utterance)
        return Tell(text=f"{said} {self.offer}", confidence=1.0) if said else None


@dataclass(frozen=True, slots=True)
class NoFacts:
    """Implements the planner's `Procedure`."""

    def decide(
        self,
        dialogue: Dialogue,
        tools: Sequence[KnownTool],  # noqa: ARG002 - the interface's
        *,
        ranked: Sequence[Scored],
        now: datetime,  # noqa: ARG002
    ) -> Decision | None:
        fits = bool(ranked) and ranked[0].score >= THRESHOLD
        return (
            None if fits or dialogue.steps or not _is_general(dialogue.utterance) else Tell(text=LOOK_IT_UP)
        )


def _is_general(text: str) -> bool:
    """A question about the world that no tool here is made for."""
    return asks_to_know(text) and not understands(text) and not speaks_of_tasks(text)


def small_talk(text: str) -> str | None:
    """What to answer where somebody only makes conversation."""
    said = " ".join(text.split())
    return next((answer for pattern, answer in _SAID if pattern.match(said)), None)
