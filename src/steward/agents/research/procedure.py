"""How research is done without a language model: a procedure for the planner.

Split the question; search memory, then the knowledge base, then the web, each only for what is still open;
read the pages; keep what was found; answer with quotes. Questions are pursued side by side.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from steward.agents.research.evidence import (
    DOCUMENT,
    KNOWLEDGE_SEARCH,
    MEMORY,
    MEMORY_SEARCHES,
    PAGE_READERS,
    STORE,
    WEB,
    WEB_SEARCHES,
    Heard,
    Passage,
    failures,
    from_steps,
    host_of,
    passages,
)
from steward.agents.research.findings import NEAR, Finding, Freshness, compose, find, find_in_library
from steward.agents.research.questions import (
    asks_again,
    asks_how,
    keywords,
    search_query,
    split_question,
    topic_of,
)
from steward.agents.research.relevance import Relevance
from steward.models.planner.decisions import Call, Decision, Several, Tell
from steward.models.planner.dialogue import Dialogue
from steward.models.planner.ranking import THRESHOLD, KnownTool, Scored, can_look_up, wanted_intention
from steward.models.planner.words import bare, is_help

RESEARCH = "research"
PAGES = 3  # read for one question
RESULTS = 8  # asked of a search
NEAREST = "I found nothing that surely answers this. The nearest in your documents:"
_STEPS = (*MEMORY_SEARCHES, KNOWLEDGE_SEARCH, *WEB_SEARCHES, *PAGE_READERS, STORE)


@dataclass(frozen=True, slots=True)
class ResearchProcedure:
    """Implements the planner's `Procedure`."""

    relevance: Relevance = field(default_factory=Relevance)
    freshness: Freshness = field(default_factory=Freshness)

    def decide(
        self, dialogue: Dialogue, tools: Sequence[KnownTool], *, ranked: Sequence[Scored], now: datetime
    ) -> Decision | None:
        said = dialogue.utterance
        told = wanted_intention(bare(said)) == "store"  # something to keep, not to find out
        if told or is_help(said) or (not asks_how(said) and self._meant_otherwise(said, ranked)):
            return None
        return _Research(self, dialogue, {_role(tool.name): tool.name for tool in tools}, now).next()

    def _meant_otherwise(self, said: str, ranked: Sequence[Scored]) -> bool:
        """Whether a tool that is no part of research fits clearly better: the time, a file."""
        best = ranked[0] if ranked else None
        if best is None or _role(best.tool.name) in _STEPS or can_look_up(best.tool):
            return False
        if not best.tool.own_words.intersection(keywords(said)):
            return False  # "... today?" is no question about the clock
        research = max((each.score for each in ranked if _role(each.tool.name) in _STEPS), default=0.0)
        return best.score >= THRESHOLD and best.score > research


def _role(name: str) -> str:
    return name.rpartition("__")[2]


def _asked_before(dialogue: Dialogue) -> str:
    """What memory was last asked about in an earlier turn: what "it" means now."""
    asked = [step.arguments.get("query") for step in dialogue.earlier if _role(step.tool) in MEMORY_SEARCHES]
    return str(asked[-1] or "") if asked else ""


class _Research:
    """One step of one turn; everything it knows stands in the turn."""

    def __init__(
        self, how: ResearchProcedure, dialogue: Dialogue, tools: Mapping[str, str], now: datetime
    ) -> None:
        self._how = how
        self._tools = tools
        self._now = now
        self._said = dialogue.utterance
        self._heard = from_steps(dialogue.steps)
        self._questions = split_question(dialogue.utterance, _asked_before(dialogue))

    def next(self) -> Decision:
        found = self._findings()
        stages: tuple[Callable[[Sequence[str]], list[Call]], ...] = (
            self._ask_memory,
            self._ask_library,
            self._ask_web,
            self._read_pages,
        )
        for stage in stages:
            still_open = [each.question for each in found if not each.answered]
            # Memory is asked about everything, also about what is to be looked up anew.
            calls = stage(self._questions if stage == self._ask_memory else still_open)
            if calls:
                return Several(tuple(calls)) if len(calls) > 1 else calls[0]
        return self._keep(found) or self._tell(found)

    # --- what was found so far ---

    def _findings(self) -> list[Finding]:
        usable = passages(self._heard)
        again = asks_again(self._said)
        return [self._finding(question, usable, again) for question in self._questions]

    def _finding(self, question: str, usable: Sequence[Passage], again: bool) -> Finding:
        def of(kind: str) -> list[Passage]:
            return [each for each in usable if each.source.kind == kind]

        fresh = [each for each in of(MEMORY) if self._how.freshness.holds(each, question, self._now)]
        remembered = find(question, [] if again else fresh, self._how.relevance)
        if remembered.answered:
            return remembered
        read = find_in_library(question, of(DOCUMENT), self._how.relevance)
        if read.answered:
            return read
        # A snippet leads to a page; it speaks for itself only where the page could not be read.
        tried = PAGE_READERS[0] not in self._tools or any(each.role in PAGE_READERS for each in self._heard)
        pages = [each for each in of(WEB) if tried or not each.snippet]
        return find(question, [*of(DOCUMENT), *pages], self._how.relevance)

    # --- the stages ---

    def _ask_memory(self, questions: Sequence[str]) -> list[Call]:
        return self._search(MEMORY_SEARCHES, questions, {})

    def _ask_library(self, questions: Sequence[str]) -> list[Call]:
        return self._search((KNOWLEDGE_SEARCH,), questions, {"top_k": 5})

    def _ask_web(self, questions: Sequence[str]) -> list[Call]:
        return self._search(
            WEB_SEARCHES, [search_query(each) for each in questions], {"max_results": RESULTS}
        )

    def _search(self, roles: Sequence[str], queries: Sequence[str], more: Mapping[str, Any]) -> list[Call]:
        tool = next((self._tools[role] for role in roles if role in self._tools), None)
        done = {str(each.arguments.get("query")) for each in self._heard if each.tool == tool}
        if tool is None:
            return []
        return [_call(tool, {"query": query, **more}) for query in queries if query not in done]

    def _read_pages(self, questions: Sequence[str]) -> list[Call]:
        tool = self._tools.get(PAGE_READERS[0])
        if tool is None or any(each.role in PAGE_READERS for each in self._heard):
            return []
        chosen = [url for question in questions for url in self._worth_reading(question)]
        return [_call(tool, {"url": url}) for url in dict.fromkeys(chosen)]

    def _worth_reading(self, question: str) -> list[str]:
        """The likeliest pages of a search, each from another site."""
        query = search_query(question)
        results = passages([each for each in self._heard if _asked(each, query)])
        scores = self._how.relevance.scores(
            question, [each.text for each in results], about=[each.source.title for each in results]
        )
        order = sorted(range(len(results)), key=lambda at: (-round(scores[at], 1), at))
        by_host: dict[str, str] = {}
        for at in order:
            by_host.setdefault(host_of(results[at].source), results[at].source.location)
        return list(by_host.values())[:PAGES]

    def _keep(self, found: Sequence[Finding]) -> Call | None:
        """What is new is stored once, with its topic, its time and where it comes from."""
        tool = self._tools.get(STORE)
        new = [
            replace(each, quotes=tuple(quote for quote in each.quotes if quote.source.kind == WEB))
            for each in found
            if each.answered
        ]
        new = [each for each in new if each.quotes]
        if tool is None or not new or any(each.role == STORE for each in self._heard):
            return None
        composed = compose(new)
        return _call(tool, {"content": composed.kept, "metadata": {"topic": topic_of(self._said)}})

    def _tell(self, found: Sequence[Finding]) -> Tell:
        if any(each.answered for each in found):
            return Tell(
                text=compose(found).text, confidence=min(each.score for each in found if each.answered)
            )
        problems = " ".join(dict.fromkeys(failures(self._heard)))
        nearest = [each for each in self._nearest() if each.answered]
        if nearest:
            parts = (NEAREST, compose(nearest).text, problems)
            text = "\n\n".join(part for part in parts if part)
            return Tell(text=text, confidence=min(each.score for each in nearest))
        if problems:
            return Tell(text=f"I could not find it out. {problems}")
        return Tell(
            text="I searched my memory, the knowledge base and the web, and found nothing that answers this."
        )

    def _nearest(self) -> list[Finding]:
        documents = [each for each in passages(self._heard) if each.source.kind == DOCUMENT]
        return [
            find_in_library(question, documents, self._how.relevance, least=NEAR)
            for question in self._questions
        ]


def _asked(heard: Heard, query: str) -> bool:
    return heard.failure is None and heard.role in WEB_SEARCHES and heard.arguments.get("query") == query


def _call(tool: str, arguments: Mapping[str, Any]) -> Call:
    return Call(tool=tool, arguments=arguments, goal=0, helper=True)
