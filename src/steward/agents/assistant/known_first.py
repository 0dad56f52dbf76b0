"""What one has oneself, before a language model: memory and documents are asked before a model answers.

Owns when that is done and when what was found is the answer. The searches go through the door like any other;
what counts as an answer is the researcher's to say (researcher/inquiry.py).
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from steward.agents.assistant.builtin_telling import recollection
from steward.agents.assistant.own_knowledge import OwnKnowledge
from steward.agents.assistant.personal_facts import asks_about_self
from steward.agents.profile import Draft, TurnView
from steward.agents.researcher.evidence import KNOWLEDGE_SEARCH
from steward.agents.researcher.inquiry import Inquiry
from steward.agents.researcher.questions import wants_to_know
from steward.agents.turn import sources
from steward.agents.turn.calls import call_through
from steward.agents.turn.toolset import ToolOffer, define
from steward.contract.call import Done
from steward.conversations.clock import now_for_speaker
from steward.models.planner.decisions import Call, Decision, Several
from steward.models.planner.dialogue import Dialogue, Step
from steward.models.planner.ranking import KnownTool
from steward.orchestrator.orchestrator import Orchestrator

SEARCH = "search_memory"
CONFIDENCE = 0.6  # it shares the question's words; whether it answers is for the person to see
MOST_SEARCHES = 4


@dataclass(frozen=True, slots=True)
class KnownFirst:
    """Called before a language model is asked; a draft is the answer."""

    door: Orchestrator
    offer: ToolOffer
    knowledge: OwnKnowledge
    has_documents: Callable[[], Awaitable[bool]]

    async def __call__(self, turn: TurnView) -> Draft | None:
        return await self._remembered(turn) or await self._in_documents(turn)

    async def _remembered(self, turn: TurnView) -> Draft | None:
        if not asks_about_self(turn.text):
            return None
        step = await self._step(SEARCH, {"query": turn.text[:500]}, turn)
        told = None if step is None else recollection(step)
        return Draft(text=told, confidence=CONFIDENCE) if told else None

    async def _in_documents(self, turn: TurnView) -> Draft | None:
        """What the documents say to a question that no other tool is made for."""
        if not wants_to_know(turn.text) or not await self.has_documents():
            return None
        tools = [
            KnownTool(define(each.spec, reader=self.offer.reader_of(each.spec)))
            for each in self.door.registry
            if each.available and self.offer.includes(each)
        ]
        served = await asyncio.to_thread(self.knowledge.served, turn.text, tools)
        if served is not None and not served.searches_web:  # the web is asked for what is not known here
            return None
        searches = [tool for tool in tools if tool.name == KNOWLEDGE_SEARCH]
        steps: list[Step] = []
        while len(steps) < MOST_SEARCHES:
            asked = Dialogue(utterance=turn.text, steps=tuple(steps))
            inquiry = Inquiry(self.knowledge.judgement, asked, searches, now=now_for_speaker())
            found = await asyncio.to_thread(inquiry.findings)
            calls = _calls(inquiry.search(found))
            if not calls:
                told = inquiry.answer(found)
                return None if told is None else _answer(told.text, told.confidence, turn)
            made = [await self._step(call.tool, dict(call.arguments), turn) for call in calls]
            if None in made:
                return None
            steps += [step for step in made if step is not None]
        return None

    async def _step(self, tool: str, arguments: dict[str, object], turn: TurnView) -> Step | None:
        """None where it could not be asked."""
        known = self.door.registry.find(tool)
        if known is None or not known.available:
            return None
        result = await call_through(self.door, known.spec, arguments, session=turn.session)
        return Step(tool=tool, arguments=arguments, data=result.data) if isinstance(result, Done) else None


def _calls(decision: Decision | None) -> tuple[Call, ...]:
    match decision:
        case Call():
            return (decision,)
        case Several():
            return decision.calls
        case _:
            return ()


def _answer(text: str, confidence: float, turn: TurnView) -> Draft:
    calls = turn.ledger.calls
    return Draft(
        text=text, confidence=confidence, reasoning=sources.reasoning(calls), sources=sources.sources(calls)
    )
