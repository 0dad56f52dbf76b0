"""Manners without a language model: a procedure for the planner.

It answers a greeting as one, and says of general knowledge that it has none, with an offer to look it up.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from steward.agents.house_reader import speaks_of_tasks, understands
from steward.agents.languages import other_language
from steward.agents.oneself import asks_about_self
from steward.agents.research.questions import asks_to_know
from steward.models.planner.decisions import Decision, Tell
from steward.models.planner.dialogue import Dialogue
from steward.models.planner.ranking import THRESHOLD, KnownTool, Scored
from steward.models.planner.words import is_help

MANNERS, TASK_MANNERS, NO_FACTS = "manners", "task-manners", "no-facts"
_HELLO = (
    r"(?:hi|hey|hello|howdy|greetings|good (?:morning|afternoon|evening|day))(?: there| steward| again| all)?"
)
_BARE_ANSWER = re.compile(
    r"^(?:yes|yeah|yep|no|nope|ok|okay|sure|fine|great|cool|right|i see|never ?mind)(?: please| thanks)?\W*$",
    re.IGNORECASE,
)
_SAID = (
    (_BARE_ANSWER, "All right."),
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
    (
        re.compile(
            r"^(?:who|what) are you\W*$|"
            r"^are you (?:an? )?(?:human|real|robot|bot|person|ai|machine|alive)\b"
            r"[^,;]{0,40}$|^what(?:'s| is) your name\W*$",
            re.IGNORECASE,
        ),
        "I'm Steward, a program: no human, and here without a language model.",
    ),
    (re.compile(r"^(?:nice|good|pleased) to meet you\W*$", re.IGNORECASE), "Likewise."),
)
LOOK_IT_UP = (
    "I work without a language model here: I know no facts of my own and make nothing up. I can look it up: "
    "say “search the web for …” or “search memory for …”, or ask the researcher."
)
OFFER = "What can I do for you? Ask “what can you do?” to see it all."


@dataclass(frozen=True, slots=True)
class Manners:
    """Implements the planner's `Procedure`."""

    offer: str = OFFER  # what follows the courtesy: what one can do here
    abilities: Callable[[Sequence[str]], str] | None = None  # in which words all of it is told
    talks: Callable[[str], bool] = lambda _: False  # knows conversation by its meaning

    def decide(
        self,
        dialogue: Dialogue,
        tools: Sequence[KnownTool],
        *,
        ranked: Sequence[Scored],
        now: datetime,  # noqa: ARG002
    ) -> Decision | None:
        if self.abilities is not None and is_help(dialogue.utterance):
            return Tell(text=self.abilities([tool.name for tool in tools]), confidence=1.0)
        unread = unreadable(dialogue.utterance)
        if unread:
            return Tell(text=unread)
        said = small_talk(dialogue.utterance) or self._remark(dialogue, ranked)
        if said is None or (dialogue.asked and _BARE_ANSWER.match(dialogue.utterance)):
            return None
        return Tell(text=f"{said} {self.offer}", confidence=1.0)

    def _remark(self, dialogue: Dialogue, ranked: Sequence[Scored]) -> str | None:
        """What to say to who only says something, where neither a tool nor an open question is meant."""
        busy = dialogue.steps or dialogue.asked or _fits(ranked)
        return "I see." if not busy and self.talks(dialogue.utterance) else None


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
        return (
            None
            if _fits(ranked) or dialogue.steps or not _is_general(dialogue.utterance)
            else Tell(text=LOOK_IT_UP)
        )


def _fits(ranked: Sequence[Scored]) -> bool:
    return bool(ranked) and ranked[0].score >= THRESHOLD


def _is_general(text: str) -> bool:
    """A question about the world that no tool here is made for."""
    ours = understands(text) or speaks_of_tasks(text) or asks_about_self(text)
    return asks_to_know(text) and not ours


def unreadable(text: str) -> str | None:
    """What to answer to something that is in no words, or in none that are read here."""
    if not any(letter.isalnum() for letter in text):
        return "Please say it in words. Ask “what can you do?” to see what I can do."
    language = other_language(text)
    if language is None:
        return None
    return (
        f"That looks like {language}. Without a language model I understand English only. "
        "Please say it in English, or set STEWARD_MODEL to a language model."
    )


def small_talk(text: str) -> str | None:
    """What to answer where somebody only makes conversation."""
    said = " ".join(text.split())
    return next((answer for pattern, answer in _SAID if pattern.match(said)), None)
