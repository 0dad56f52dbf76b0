"""How research is done without a language model: a procedure for the planner.

Split the question; search memory, then the knowledge base, then the web, each only for what is still open;
read the pages; keep what was found; answer with quotes. Questions are pursued side by side.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from steward.agents.assistant.personal_facts import is_statement
from steward.agents.researcher.evidence import (
    DOCUMENT,
    KNOWLEDGE_SEARCH,
    MEMORY_SEARCHES,
    PAGE_READERS,
    STORE,
    WEB,
    WEB_SEARCHES,
    SourcePassage,
    ToolOutcome,
    host_of,
    passages,
)
from steward.agents.researcher.findings import Finding, compose, find, find_opening
from steward.agents.researcher.inquiry import Inquiry, Judgement, Stage, one_or_several, role_of, search_call
from steward.agents.researcher.questions import (
    addresses_in,
    asks_how,
    keywords,
    names_in,
    search_query,
    split_question,
    topic_of,
    without_addresses,
)
from steward.models.planner.decisions import Call, Decision, Tell
from steward.models.planner.dialogue import Dialogue
from steward.models.planner.ranking import THRESHOLD, KnownTool, Scored, can_look_up, wanted_intention
from steward.models.planner.words import bare, is_help

RESEARCH = "research"
PAGES = 3  # read for one question
RESULTS = 8  # asked of a search
STEPS = (*MEMORY_SEARCHES, KNOWLEDGE_SEARCH, *WEB_SEARCHES, *PAGE_READERS, STORE)


@dataclass(frozen=True, slots=True)
class ResearchProcedure:
    """Implements the planner's `Procedure`."""

    judgement: Judgement = field(default_factory=Judgement)

    def decide(
        self, dialogue: Dialogue, tools: Sequence[KnownTool], *, ranked: Sequence[Scored], now: datetime
    ) -> Decision | None:
        said = dialogue.utterance
        # Something to keep, not to find out; least of all in the web, whom it does not concern.
        told = wanted_intention(bare(said)) == "store" or is_statement(said)
        if told or is_help(said):
            return None
        if not asks_how(said) and not addresses_in(said) and means_another(said, ranked):
            return None
        return _Research(self.judgement, dialogue, tools, now=now).next()


def means_another(said: str, ranked: Sequence[Scored], *, searches: bool = False) -> bool:
    """Whether a tool that is no part of research fits clearly better: the time, a file.

    `searches`: whether another search, of files for example, is no part of it either.
    """
    best = ranked[0] if ranked else None
    if best is None or role_of(best.tool.name) in STEPS or (can_look_up(best.tool) and not searches):
        return False
    if not best.tool.own_words.intersection(keywords(said)):
        return False  # "... today?" is no question about the clock
    if any(names_in(part) and not best.tool.own_words & {*keywords(part)} for part in split_question(said)):
        return False  # another question stands beside it
    research = max((each.score for each in ranked if role_of(each.tool.name) in STEPS), default=0.0)
    return best.score >= THRESHOLD and best.score > research


class _Research(Inquiry):
    """What one does not have oneself is looked for in the web."""

    def next(self) -> Decision:
        named = addresses_in(self._said) if PAGE_READERS[0] in self._tools else ()
        found = self.findings() if not named else [self._on_pages()]
        search = self.search(found) if not named else self._read(named)
        return search or self._keep(found) or self._tell(found)

    def _on_pages(self) -> Finding:
        """What the pages that the person named say to the question; how they begin, where there is none."""
        read = [each for each in passages(self._heard) if each.source.kind == WEB]
        question = bare(without_addresses(self._said)).strip()
        found = find(question, read, self._judgement.relevance)
        return found if found.answered else find_opening(self._said, read)

    def _stages(self) -> Sequence[Stage]:
        return (*super()._stages(), self._ask_web, self._read_pages)

    def _finding(self, question: str, usable: Sequence[SourcePassage], again: bool) -> Finding:
        own = super()._finding(question, usable, again)
        if own.answered:
            return own
        # A snippet leads to a page; it speaks for itself only where the page could not be read.
        tried = PAGE_READERS[0] not in self._tools or any(each.role in PAGE_READERS for each in self._heard)
        read = [
            each
            for each in usable
            if each.source.kind == DOCUMENT or (each.source.kind == WEB and (tried or not each.snippet))
        ]
        return find(question, read, self._judgement.relevance)

    def _ask_web(self, questions: Sequence[str]) -> list[Call]:
        return self._search(
            WEB_SEARCHES, [search_query(each) for each in questions], {"max_results": RESULTS}
        )

    def _read_pages(self, questions: Sequence[str]) -> list[Call]:
        tool = self._tools.get(PAGE_READERS[0])
        if tool is None or any(each.role in PAGE_READERS for each in self._heard):
            return []
        chosen = [url for question in questions for url in self._worth_reading(question)]
        return [search_call(tool, {"url": url}) for url in dict.fromkeys(chosen)]

    def _read(self, named: Sequence[str]) -> Decision | None:
        read = {each.arguments.get("url") for each in self._heard if each.role in PAGE_READERS}
        calls = [search_call(self._tools[PAGE_READERS[0]], {"url": url}) for url in named if url not in read]
        return one_or_several(calls[:PAGES])

    def _worth_reading(self, question: str) -> list[str]:
        """The likeliest pages of a search, each from another site."""
        query = search_query(question)
        results = passages([each for each in self._heard if _asked(each, query)])
        scores = self._judgement.relevance.scores(
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
        return search_call(
            tool, {"content": composed.kept, "metadata": {"topic": topic_of(without_addresses(self._said))}}
        )

    def _tell(self, found: Sequence[Finding]) -> Tell:
        told = self.answer(found) or self.nearest()
        if told is not None:
            return told
        problems = self._problems()
        if problems:
            return Tell(text=f"I could not find it out. {problems}")
        return Tell(
            text="I searched my memory, the knowledge base and the web, and found nothing that answers this."
        )


def _asked(heard: ToolOutcome, query: str) -> bool:
    return heard.failure is None and heard.role in WEB_SEARCHES and heard.arguments.get("query") == query
