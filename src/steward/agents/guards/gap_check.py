"""Saying beforehand that something cannot be done.

Owns when a request is compared with the tools there are: not for small talk, and not for what a skill of the
house understands, because what is understood can be done.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from steward.agents.profile import Draft, TurnView
from steward.contract import linear_re as re
from steward.conversations.model import AnswerStatus
from steward.language.acts import ReadActs

ONLY_SAID = "I see. What can I do for you? Ask “what can you do?” to see it all."


class MissingForRequest(Protocol):
    """What is missing for a request."""

    missing_tools: list[str]

    def explain(self) -> str: ...


class GapDetector(Protocol):
    async def detect_missing_tools(
        self, task_description: str, *, tried: Collection[str] = ()
    ) -> MissingForRequest | None: ...

    async def name_needs(self, task_description: str) -> Sequence[str]:
        """What a task needs, by stable names, whether there is a tool for it or not."""
        ...


_DECLINES = re.compile(
    r"\b(?:can't|cannot|can not|unable to|not able to|don't have|do not have|no tool|no way to)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FindGap:
    """Asks the detector about what none of the readers understands."""

    understood: Sequence[Callable[[str], object]]
    detector: GapDetector
    acts: ReadActs | None = None  # without it whatever was said asks for something
    away: Callable[[Sequence[str]], str | None] = lambda _: None  # words for what is only away, if it is

    async def __call__(self, text: str, *, tried: Collection[str] = ()) -> MissingForRequest | None:
        # In a thread: a long text is read for a while, and other conversations are waiting.
        if await asyncio.to_thread(lambda: any(reads(text) for reads in self.understood)):
            return None
        return await self.detector.detect_missing_tools(text, tried=tried)

    async def named(self, draft: Draft, text: str) -> Draft:
        """A draft that says that nothing can do it, with what is missing."""
        if draft.status is not AnswerStatus.GAP or draft.missing_tools:
            return draft
        if self.acts is not None and (await asyncio.to_thread(self.acts, text)).only_talks:
            return replace(draft, text=ONLY_SAID, status=AnswerStatus.DONE)
        gap = await self.detector.detect_missing_tools(text)
        missing = gap.missing_tools if gap is not None else await self.detector.name_needs(text)
        if (trouble := self.away(missing)) is not None:
            return replace(draft, text=trouble, status=AnswerStatus.FAILED)
        if gap is None:
            return replace(draft, missing_tools=tuple(missing))
        told = f"{draft.looked} {gap.explain()}".strip()
        return replace(draft, text=told, missing_tools=tuple(gap.missing_tools))


@dataclass(frozen=True, slots=True)
class HonestBeforehand:
    """Implements `Conduct`: what no tool can do is said before anything is tried."""

    find_gap: FindGap

    async def before(self, turn: TurnView) -> Draft | None:
        return None if turn.answering else await _gap(self.find_gap, turn)

    async def after(self, turn: TurnView, draft: Draft) -> Draft:
        return await self.find_gap.named(draft, turn.text)


@dataclass(frozen=True, slots=True)
class PlannerGapCheck:
    """Implements `Conduct` for the planner, which reads first and says itself where nothing fits.

    What may be known here (`looked_for`) and was not found is compared with the tools afterwards.
    """

    find_gap: FindGap
    looked_for: Callable[[str], bool]

    async def before(self, turn: TurnView) -> Draft | None:  # noqa: ARG002 - the interface's
        return None

    async def after(self, turn: TurnView, draft: Draft) -> Draft:
        unsure = draft.status is AnswerStatus.DONE and not draft.confidence
        if unsure and await asyncio.to_thread(self.looked_for, turn.text):
            return await _gap(self.find_gap, turn) or draft
        return await self.find_gap.named(draft, turn.text)


async def _gap(find_gap: FindGap, turn: TurnView) -> Draft | None:
    gap = await find_gap(turn.text, tried=[call.tool for call in turn.ledger.calls])
    if gap is None:
        return None
    if (trouble := find_gap.away(gap.missing_tools)) is not None:
        return Draft(text=trouble, status=AnswerStatus.FAILED)
    return Draft(
        text=gap.explain(),
        status=AnswerStatus.GAP,
        reasoning="The request was compared with the tools there are before anything was tried.",
        missing_tools=tuple(gap.missing_tools),
    )


@dataclass(frozen=True, slots=True)
class ModelGapCheck:
    """Implements `Conduct` for a language model that writes and programs, and so may find a way of its own.

    It is asked first. Where it did nothing and says that it cannot, what is missing is named.
    """

    find_gap: FindGap
    recall: Callable[[TurnView], Awaitable[Draft | None]] | None = None  # what is known here already

    async def before(self, turn: TurnView) -> Draft | None:
        """What memory knows needs no model, which might know better."""
        return None if self.recall is None or turn.answering else await self.recall(turn)

    async def after(self, turn: TurnView, draft: Draft) -> Draft:
        declined = draft.status is AnswerStatus.DONE and _DECLINES.search(draft.text) is not None
        gap = await self.find_gap(turn.text) if declined and not turn.ledger.calls else None
        if gap is None:
            return draft
        return replace(draft, status=AnswerStatus.GAP, missing_tools=tuple(gap.missing_tools))
