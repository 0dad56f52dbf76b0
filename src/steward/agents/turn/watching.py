"""What stands around a run's calls: the profile's rules before the door, and news for whoever watches."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from steward.agents.guards.bulk_deletion import refuse_unasked_everything
from steward.agents.profile import Draft, Profile
from steward.agents.session import AgentSession
from steward.agents.turn.ledger import Ledger, Shown
from steward.agents.turn.narration import narrate
from steward.contract.call import Failed
from steward.contract.errors import ErrorCode
from steward.contract.showing import ShownCall, show
from steward.contract.tool import ToolSpec
from steward.conversations.model import (
    AnswerStatus,
    CallEnded,
    CallRecord,
    CallStarted,
    PendingCall,
    Progress,
    TurnEvent,
)

logger = logging.getLogger(__name__)

Listener = Callable[[TurnEvent], Awaitable[None]]


async def nobody(_: TurnEvent) -> None:
    """For turns that nobody watches."""


class TurnWatch:
    """The rules of a profile, and events. A rule that fails closes: nothing runs, nothing is said."""

    def __init__(self, profile: Profile, listener: Listener) -> None:
        self._profile = profile
        self._listener = listener

    def admit(self, spec: ToolSpec, arguments: Mapping[str, Any], session: AgentSession) -> Failed | None:
        wholesale = refuse_unasked_everything(spec, arguments, session.utterance)
        if wholesale is not None:
            return Failed(error=wholesale.reason, code=wholesale.code)
        for rule in self._profile.rules:
            try:
                refusal = rule.admit(spec, arguments, ledger=session.ledger, session=session)
            except Exception:
                logger.exception("rule_failed", extra={"tool": spec.name, "agent": self._profile.name})
                return Failed(
                    error="Nothing was run: a rule could not judge it.", code=ErrorCode.POLICY_FAILED
                )
            if refusal is not None:
                return Failed(error=refusal.reason, code=refusal.code)
        return None

    async def started(self, call_id: str, tool: str, arguments: Mapping[str, Any]) -> None:
        await self._listener(CallStarted(call_id=call_id, tool=tool, arguments=arguments))
        if said := narrate(tool, arguments):
            await self._listener(Progress(said))

    async def ended(self, record: CallRecord) -> None:
        await self._listener(CallEnded(record))

    async def shown(self, shown: Shown) -> None:
        if self._profile.offer.pays_tokens:
            saved = f"about {shown.tokens_saved:,} tokens saved"
            await self._listener(Progress(f"{shown.tools} of {shown.of} tools fit: {saved}"))

    # A channel, as tools see it: progress goes out, and nobody can be asked in the middle of a turn.

    async def progress(self, done: float, total: float | None, message: str | None) -> None:
        text = message or (f"{done:g} of {total:g}" if total else f"{done:g}")
        await self._listener(Progress(text))

    async def elicit(self, message: str, schema: Mapping[str, Any]) -> None:  # noqa: ARG002
        return None


def review(profile: Profile, draft: Draft, *, session: AgentSession) -> Draft:
    """The draft as every rule lets it be said."""
    for rule in profile.rules:
        try:
            draft = rule.review(draft, ledger=session.ledger, session=session)
        except Exception:
            logger.exception("rule_failed", extra={"agent": profile.name})
            return Draft(
                text="I have an answer, but could not check it, so I keep it to myself. Please ask again.",
                status=AnswerStatus.FAILED,
            )
    return draft


def question_for(
    profile: Profile, spec: ToolSpec | None, call: PendingCall, *, shown: ShownCall, ledger: Ledger
) -> str:
    """What to ask before a call: in a rule's words where it has some; then the whole call, as it runs."""
    asked = None if spec is None else _in_a_rules_words(profile, spec, call, ledger)
    return f"{asked or f'Are you sure you want me to run `{call.tool}`?'}\n\n{show(shown)}"


def _in_a_rules_words(profile: Profile, spec: ToolSpec, call: PendingCall, ledger: Ledger) -> str | None:
    for rule in profile.rules:
        try:
            asked = rule.confirm(spec, call.arguments, ledger=ledger)
        except Exception:
            logger.exception("rule_failed", extra={"tool": spec.name, "agent": profile.name})
            continue
        if asked:
            return asked
    return None
