"""What holds for every answer of the researcher, whatever the model says.

Memory is asked before the world; what was found lately is not searched for again; an address that no tool
returned is not named; sources, confidence and the account of the way come from the record.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from steward.agents.guards.base import Lenient
from steward.agents.guards.truth import ClaimsOnRecord
from steward.agents.profile import Draft, Refusal
from steward.agents.researcher.account import account, confidence, sources, support
from steward.agents.researcher.addresses import with_known_addresses
from steward.agents.researcher.evidence import (
    KNOWLEDGE_SEARCH,
    MEMORY,
    MEMORY_SEARCHES,
    PAGE_READERS,
    WEB_SEARCHES,
    SourcePassage,
    ToolOutcome,
    failures,
    from_records,
    passages,
)
from steward.agents.researcher.findings import Freshness, find
from steward.agents.researcher.questions import asks_again
from steward.agents.researcher.quotable import sentences
from steward.agents.researcher.relevance import Relevance
from steward.agents.session import AgentSession
from steward.agents.turn.ledger import Ledger
from steward.contract.tool import ToolSpec
from steward.conversations.model import AnswerStatus

MEMORY_FIRST = "MEMORY_FIRST"
KNOWN_ALREADY = "KNOWN_ALREADY"
_OWN = (*MEMORY_SEARCHES, KNOWLEDGE_SEARCH)
_OUTWARD = (*WEB_SEARCHES, KNOWLEDGE_SEARCH, *PAGE_READERS)


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class FromTheRecord(Lenient):
    """Implements `Rule`."""

    relevance: Relevance = field(default_factory=Relevance)
    freshness: Freshness = field(default_factory=Freshness)
    now: Callable[[], datetime] = _utc_now

    def admit(
        self, spec: ToolSpec, arguments: Mapping[str, Any], *, ledger: Ledger, session: AgentSession
    ) -> Refusal | None:
        role = spec.name.rpartition("__")[2]
        said = session.utterance or ""
        named = str(arguments.get("url") or "\0") in said  # the person's own page is read at once
        if role not in _OUTWARD or named or asks_again(said):
            return None
        heard = from_records(ledger.calls)
        if not any(each.role in MEMORY_SEARCHES for each in heard):
            return Refusal(MEMORY_FIRST, "Search memory first: search_memory(query).")
        if role in WEB_SEARCHES and self._known(said, heard):
            return Refusal(
                KNOWN_ALREADY,
                "Memory has a fresh answer to this. Answer with it, and say when it was stored.",
            )
        return None

    def _known(self, question: str, heard: Sequence[ToolOutcome]) -> bool:
        now = self.now()
        kept = [
            each
            for each in passages(heard)
            if each.source.kind == MEMORY and self.freshness.holds(each, question, now)
        ]
        return bool(kept) and find(question, kept, self.relevance).answered

    def review(self, draft: Draft, *, ledger: Ledger, session: AgentSession) -> Draft:
        if draft.status in (AnswerStatus.GAP, AnswerStatus.PENDING_APPROVAL):
            return draft
        return _accounted(draft, ledger=ledger, session=session)


@dataclass(frozen=True, slots=True)
class OwnSources(Lenient):
    """Implements `Rule`: what was only looked up in memory and documents is accounted for as research is."""

    def review(self, draft: Draft, *, ledger: Ledger, session: AgentSession) -> Draft:  # noqa: ARG002
        heard = from_records(ledger.calls)
        looked_up = bool(heard) and all(each.role in _OWN for each in heard)
        if draft.status is not AnswerStatus.DONE or not looked_up:
            return draft
        kept = _resting_on(support("", draft.text, heard), draft.text, heard)
        return replace(draft, sources=sources(kept), reasoning=account(heard, kept))


def _resting_on(
    supporting: Sequence[SourcePassage], text: str, heard: Sequence[ToolOutcome]
) -> list[SourcePassage]:
    """What is quoted is a source, whatever words were asked with."""
    return [each for each in passages(heard) if each in supporting or _quoted(each, text)]


def _quoted(passage: SourcePassage, text: str) -> bool:
    return any(piece in text for piece in (passage.text.strip(), *sentences(passage.text)))


def _accounted(draft: Draft, *, ledger: Ledger, session: AgentSession) -> Draft:
    heard = from_records(ledger.calls)
    question = session.utterance or ""
    text = with_known_addresses(draft.text, question, ledger.everything)
    supporting = support(question, text, heard)
    sure = confidence(question, text, heard) if draft.status is AnswerStatus.DONE else 0.0
    # Our own way is told by the record alone; a model's reasons stand before it.
    own = draft.reasoning if not _only_names_calls(draft.reasoning, heard) else ""
    told = " ".join(part for part in (own.strip(), account(heard, supporting)) if part)
    return replace(
        draft,
        text=text,
        confidence=sure,
        sources=sources(_resting_on(supporting, text, heard)),
        reasoning=told or "No tool was called, so nothing supports this.",
    )


class ClaimsAboutUs(ClaimsOnRecord):
    """What is found out is told of the world; only what the researcher says to have done is checked."""

    def review(self, draft: Draft, *, ledger: Ledger, session: AgentSession) -> Draft:
        asking = replace(session, utterance=f"{(session.utterance or '').rstrip('.!? ')}?")
        return super().review(draft, ledger=ledger, session=asking)


def _only_names_calls(reasoning: str, heard: Sequence[ToolOutcome]) -> bool:
    """The planner's and the engine's own account of the calls, which ours replaces."""
    return reasoning.startswith(("Called ", "No tool was called")) and (bool(heard) or not failures(heard))
