"""For any agent: nothing is said to have been changed that no call changed.

Owns the check of an answer's claims against the ledger, whatever the tools. An agent that speaks of the
world may go on doing so: only what it says to have done here is checked.
"""

from collections.abc import Callable
from dataclasses import replace

from steward.agents.guards.base import Lenient
from steward.agents.guards.change_words import BASE, FAMILIES
from steward.agents.guards.claims import Claim, ClaimContext, claims_in
from steward.agents.guards.sentences import words_of
from steward.agents.profile import Draft
from steward.agents.session import AgentSession
from steward.agents.turn.ledger import Ledger
from steward.agents.turn.toolset import reads_only
from steward.contract.tool import ToolSpec
from steward.conversations.model import AnswerStatus, CallRecord, CallStatus

NOTHING_DONE = "I have not done that: nothing was changed."
SOMETHING_ELSE = "What I was about to say does not fit what was done. Please look at the calls of this turn."
LEFT_OUT = "(I left out what I said about a change: no tool made it.)"
_NEVER_CLAIMS = (AnswerStatus.PENDING_APPROVAL, AnswerStatus.FAILED)  # these words are ours, not a model's

FindTool = Callable[[str], ToolSpec | None]


class ClaimsOnRecord(Lenient):
    """Sentences that claim a change which no call made are left out, and that is said."""

    def __init__(self, find: FindTool) -> None:
        self._find = find

    def review(self, draft: Draft, *, ledger: Ledger, session: AgentSession) -> Draft:
        if draft.status in _NEVER_CLAIMS:
            return draft
        informed = any(self._looked(record) for record in ledger.calls)
        claims = claims_in(draft.text, asked=ClaimContext(session.utterance or "", informed))
        false = [claim for claim in claims if not self._borne_out(claim, ledger)]
        if not false:
            return draft
        kept = _without(draft.text, [claim.sentence.text for claim in false])
        text = f"{kept}\n\n{LEFT_OUT}" if kept else _account(ledger)
        return replace(draft, text=text, status=draft.status if kept else AnswerStatus.FAILED)

    def _borne_out(self, claim: Claim, ledger: Ledger) -> bool:
        records = ledger.everything if claim.earlier else tuple(ledger.calls)
        return any(self._made(claim, record) for record in records)

    def _looked(self, record: CallRecord) -> bool:
        spec = self._find(record.tool)
        return record.status is CallStatus.DONE and spec is not None and bool(reads_only(spec))

    def _made(self, claim: Claim, record: CallRecord) -> bool:
        if record.status is not CallStatus.DONE:
            return False
        spec = self._find(record.tool)
        if self._looked(record):
            return False
        return not claim.families or bool(claim.families & families_of(record.tool, spec))


def families_of(name: str, spec: ToolSpec | None) -> frozenset[str]:
    """What a tool does, by the verbs of its own name and description; anything where it says nothing."""
    told = f"{name.replace('_', ' ')} {spec.title or '' if spec else ''} {spec.description if spec else ''}"
    found = {family for word in words_of(told) for family in BASE.get(word, ())}
    return frozenset(found or FAMILIES)


def _without(text: str, sentences: list[str]) -> str:
    """The text without these sentences; nothing where what is left says nothing."""
    kept = text
    for sentence in sentences:
        bare = sentence.strip()
        kept = kept.replace(bare, "") if bare in kept else _without_like(kept, bare)
    kept = "\n".join(" ".join(line.split()) for line in kept.split("\n")).strip(" \n.!,;:*-")
    return kept if len(words_of(kept)) > 3 and len(words_of(kept)) * 3 > len(words_of(text)) else ""


def _without_like(text: str, sentence: str) -> str:
    """A sentence whose quotes were written otherwise takes its whole line with it."""
    wanted = set(words_of(sentence))
    lines = [line for line in text.split("\n") if not wanted <= set(words_of(line))]
    return "\n".join(lines)


def _account(ledger: Ledger) -> str:
    """What did happen this turn, where something did."""
    for record in reversed(ledger.calls):
        if record.status is CallStatus.FAILED:
            return f"{NOTHING_DONE} What I tried did not work: {record.error or 'it failed.'}"
        if record.status is CallStatus.DONE:
            return SOMETHING_ELSE
    return NOTHING_DONE
