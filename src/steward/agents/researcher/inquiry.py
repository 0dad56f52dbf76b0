"""Asking what one has oneself, without a language model: memory first, then the library of documents.

Owns the order of the searches, what counts as found, and how it is told. Who asks for it, and where else is
looked, is decided by the procedures that use it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from steward.agents.researcher.evidence import (
    DOCUMENT,
    KNOWLEDGE_SEARCH,
    MEMORY,
    MEMORY_SEARCHES,
    SourcePassage,
    failures,
    from_steps,
    passages,
)
from steward.agents.researcher.findings import (
    NEAR,
    Finding,
    Freshness,
    compose,
    find,
    find_by_meaning,
    find_in_library,
)
from steward.agents.researcher.questions import asks_again, split_question
from steward.agents.researcher.relevance import Relevance
from steward.models.planner.decisions import Call, Decision, Several, Tell
from steward.models.planner.dialogue import Dialogue
from steward.models.planner.ranking import KnownTool

NEAREST_MEMORY = "I do not know that for sure. This is the nearest I remember:"
NEAREST = "I found nothing that surely answers this. The nearest in your documents:"
PASSAGES = 5  # asked of the library

Stage = Callable[[Sequence[str]], list[Call]]


@dataclass(frozen=True, slots=True)
class Judgement:
    """By what it is told whether something answers."""

    relevance: Relevance = field(default_factory=Relevance)
    freshness: Freshness = field(default_factory=Freshness)


def role_of(name: str) -> str:
    """A tool without the server it comes from: a search is a search."""
    return name.rpartition("__")[2]


def search_call(tool: str, arguments: Mapping[str, Any]) -> Call:
    return Call(tool=tool, arguments=arguments, goal=0, helper=True)


def one_or_several(calls: Sequence[Call]) -> Call | Several | None:
    return Several(tuple(calls)) if len(calls) > 1 else next(iter(calls), None)


class Inquiry:
    """One step of one turn; everything it knows stands in the turn."""

    def __init__(
        self, judgement: Judgement, dialogue: Dialogue, tools: Sequence[KnownTool], *, now: datetime
    ) -> None:
        self._judgement = judgement
        self._tools = {role_of(tool.name): tool.name for tool in tools}
        self._now = now
        self._said = dialogue.utterance
        self._heard = from_steps(dialogue.steps)
        self._questions = split_question(dialogue.utterance, _asked_before(dialogue))

    def search(self, found: Sequence[Finding]) -> Decision | None:
        """The next search for what is still open; None when everything was searched."""
        for stage in self._stages():
            still_open = [each.question for each in found if not each.answered]
            # Memory is asked about everything, also about what is to be looked up anew.
            calls = stage(self._questions if stage == self._ask_memory else still_open)
            if calls:
                return one_or_several(calls)
        return None

    def findings(self) -> list[Finding]:
        usable = passages(self._heard)
        again = asks_again(self._said)
        return [self._finding(question, usable, again) for question in self._questions]

    def answer(self, found: Sequence[Finding]) -> Tell | None:
        """What was found, quoted with its sources; None when nothing was."""
        sure = [each.score for each in found if each.answered]
        return Tell(text=compose(found).text, confidence=min(sure)) if sure else None

    def nearest(self) -> Tell | None:
        """What comes near in the documents, said to be no more than that; None when nothing does."""
        documents = _of(passages(self._heard), DOCUMENT)
        looked = [
            find_in_library(question, documents, self._judgement.relevance, least=NEAR)
            for question in self._questions
        ]
        near = [each for each in looked if each.answered]
        if not near:
            return None
        parts = (NEAREST, compose(near).text, self._problems())
        text = "\n\n".join(part for part in parts if part)
        return Tell(text=text, confidence=min(each.score for each in near))

    def nearest_memory(self) -> Tell | None:
        """What comes near in memory, said to be no more than that; None when nothing does."""
        told = _of(passages(self._heard), MEMORY)
        looked = [find_by_meaning(question, told, self._judgement.relevance) for question in self._questions]
        near = [quote for each in looked for quote in each.quotes]
        if not near:
            return None
        text = " ".join(dict.fromkeys(f"“{quote.text}”" for quote in near))
        return Tell(text=f"{NEAREST_MEMORY} {text}", confidence=min(quote.score for quote in near))

    def _stages(self) -> Sequence[Stage]:
        return (self._ask_memory, self._ask_library)

    def _problems(self) -> str:
        return " ".join(dict.fromkeys(failures(self._heard)))

    def _finding(self, question: str, usable: Sequence[SourcePassage], again: bool) -> Finding:
        fresh = [
            each for each in _of(usable, MEMORY) if self._judgement.freshness.holds(each, question, self._now)
        ]
        mine = [] if again else fresh
        remembered = find(question, mine, self._judgement.relevance)
        if remembered.answered:
            return remembered
        found = find_in_library(question, _of(usable, DOCUMENT), self._judgement.relevance)
        meant = found if found.answered else find_by_meaning(question, mine, self._judgement.relevance)
        return meant if meant.answered else found

    def _ask_memory(self, questions: Sequence[str]) -> list[Call]:
        return self._search(MEMORY_SEARCHES, questions, {})

    def _ask_library(self, questions: Sequence[str]) -> list[Call]:
        return self._search((KNOWLEDGE_SEARCH,), questions, {"top_k": PASSAGES})

    def _search(self, roles: Sequence[str], queries: Sequence[str], more: Mapping[str, Any]) -> list[Call]:
        tool = next((self._tools[role] for role in roles if role in self._tools), None)
        done = {str(each.arguments.get("query")) for each in self._heard if each.tool == tool}
        if tool is None:
            return []
        return [search_call(tool, {"query": query, **more}) for query in queries if query not in done]


def _of(usable: Sequence[SourcePassage], kind: str) -> list[SourcePassage]:
    return [each for each in usable if each.source.kind == kind]


def _asked_before(dialogue: Dialogue) -> str:
    """What memory was last asked about in an earlier turn: what "it" means now."""
    asked = [
        step.arguments.get("query") for step in dialogue.earlier if role_of(step.tool) in MEMORY_SEARCHES
    ]
    return str(asked[-1] or "") if asked else ""
