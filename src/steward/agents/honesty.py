"""Saying beforehand that something cannot be done.

Owns when a request is compared with the tools there are: not for small talk, and not for what a reader or a
skill of the house understands, because what is understood can be done.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from steward.agents.profile import Draft, Turn
from steward.contract import linear_re as re
from steward.conversations.model import AnswerStatus


class Gap(Protocol):
    """What is missing for a request."""

    missing_tools: list[str]

    def explain(self) -> str: ...


class GapDetector(Protocol):
    async def detect_missing_tools(self, task_description: str) -> Gap | None: ...

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

    async def __call__(self, text: str) -> Gap | None:
        # In a thread: a long text is read for a while, and other conversations are waiting.
        if await asyncio.to_thread(lambda: any(reads(text) for reads in self.understood)):
            return None
        return await self.detector.detect_missing_tools(text)

    async def named(self, draft: Draft, text: str) -> Draft:
        """A draft that says that nothing can do it, with the name of what is missing."""
        if draft.status is not AnswerStatus.GAP or draft.missing_tools:
            return draft
        return replace(draft, missing_tools=tuple(await self.detector.name_needs(text)))


@dataclass(frozen=True, slots=True)
class HonestBeforehand:
    """Implements `Conduct`: what no tool can do is said before anything is tried.

    What may be known here (`looked_for`) is looked for first; where nothing was found, it is said then.
    """

    find_gap: FindGap
    looked_for: Callable[[str], bool] = lambda _: False

    async def before(self, turn: Turn) -> Draft | None:
        looked_for = turn.answering or await asyncio.to_thread(self.looked_for, turn.text)
        return None if looked_for else await self._gap(turn)

    async def after(self, turn: Turn, draft: Draft) -> Draft:
        unsure = draft.status is AnswerStatus.DONE and not draft.confidence
        if unsure and await asyncio.to_thread(self.looked_for, turn.text):
            return await self._gap(turn) or draft
        return await self.find_gap.named(draft, turn.text)

    async def _gap(self, turn: Turn) -> Draft | None:
        gap = await self.find_gap(turn.text)
        if gap is None:
            return None
        return Draft(
            text=gap.explain(),
            status=AnswerStatus.GAP,
            reasoning="The request was compared with the tools there are before anything was tried.",
            missing_tools=tuple(gap.missing_tools),
        )


@dataclass(frozen=True, slots=True)
class HonestAfterwards:
    """Implements `Conduct` for a language model that writes and programs, and so may find a way of its own.

    It is asked first. Where it did nothing and says that it cannot, what is missing is named.
    """

    find_gap: FindGap

    async def before(self, turn: Turn) -> Draft | None:  # noqa: ARG002 - the interface's
        return None

    async def after(self, turn: Turn, draft: Draft) -> Draft:
        declined = draft.status is AnswerStatus.DONE and _DECLINES.search(draft.text) is not None
        gap = await self.find_gap(turn.text) if declined and not turn.ledger.calls else None
        if gap is None:
            return draft
        return replace(draft, status=AnswerStatus.GAP, missing_tools=tuple(gap.missing_tools))
