"""One turn: what a person said in, an answer out, and everything in between on the record.

Owns the order of a turn: decide what waits, run the model, look at what it says, keep it. The same for every
agent; what differs is in its profile. Keeps nothing: what the next turn needs is in the store.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, assert_never, cast

from pydantic_ai import DeferredToolRequests, DeferredToolResults

from steward.agents import evidence, recall
from steward.agents.drafting import WORDLESS, asking, draft_of
from steward.agents.house import House, Voice
from steward.agents.ledger import Ledger
from steward.agents.pending import PendingCalls, Verdict
from steward.agents.profile import Draft, Turn
from steward.agents.results import failure
from steward.agents.session import Session
from steward.agents.toolset import reads_only
from steward.agents.watching import Listener, TurnWatch, nobody, question_for, review
from steward.contract.call import new_id
from steward.contract.errors import ErrorCode, StewardError
from steward.contract.runs import RunRecord
from steward.conversations.history import summarise
from steward.conversations.model import (
    Answer,
    AnswerStatus,
    ApprovalWanted,
    CallRecord,
    CallStatus,
    Conversation,
    Finished,
    NewTurn,
    PendingCall,
    Speaker,
    TextWritten,
)
from steward.conversations.turns import pieces, waiting_request
from steward.models.runs import Answered, Broken, RunCost, Stop, run_agent, run_work
from steward.policy.deciding import may_decide
from steward.policy.leaks import note_answer
from steward.telemetry.masking import MASKER

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """An answer on its way out, and the history it leaves."""

    draft: Draft
    messages: recall.Messages
    pending: Sequence[PendingCall] = ()


class TurnRun:
    """Made by `Chat.begin`, which holds the conversation for it; `run` lets go of it in every case."""

    def __init__(
        self,
        house: House,
        voice: Voice,
        *,
        held: Conversation,
        text: str,
        speaker: Speaker,
        stop: Stop,
        kept: bool = True,
        thread: Callable[[str], str] | None = None,
        within: RunRecord | None = None,
    ) -> None:
        self._house = house
        self._voice = voice
        self._profile = voice.profile
        self._held = held
        self._text = text
        self._speaker = speaker
        self._stop = stop
        self._kept = kept
        self._thread = thread
        self._within = within
        self._listener: Listener = nobody
        self._history: recall.Messages = ()
        self._session = Session(agent=voice.profile.name)
        self.cost = RunCost()

    @property
    def conversation(self) -> str:
        return self._held.id

    async def run(self, listener: Listener = nobody) -> Answer:
        self._listener = listener
        self._session = self._new_session()
        tracer = self._house.tracer
        with tracer.agent_run(
            self._text, agent=self._profile.name, correlation_id=self._session.correlation_id
        ) as span:
            try:
                said = await self._answer()
            except asyncio.CancelledError:
                await asyncio.shield(self._keep(self._stopped()))
                raise
            answer = self._as_answer(said)
            shown = self._session.ledger.shown
            span.finish(
                result_type=answer.status.value,
                confidence_score=answer.confidence,
                tool_calls_count=len(answer.tool_calls),
                tokens_saved=None if shown is None else shown.tokens_saved,
            )
        answer = await self._keep(said)
        await self._note_gap(answer)
        await self._announce(answer, said.pending)
        return answer

    async def _note_gap(self, answer: Answer) -> None:
        user = self._session.user
        if not answer.missing_tools or self._house.gaps is None or user is None:
            return
        task = MASKER.value(self._text)
        try:
            await self._house.gaps.record(user, answer.missing_tools, task=task, agent=answer.agent)
        except StewardError as error:  # the answer stands, written down or not
            logger.warning("gap_not_recorded", extra={"problem": error.message})

    def _new_session(self) -> Session:
        watch = TurnWatch(self._profile, self._listener)
        earlier = [call for turn in self._held.turns for call in turn.answer.tool_calls]
        session = Session(
            agent=self._profile.name,
            user=self._speaker.user,
            utterance=self._text,
            conversation=self._held.id or None,
            correlation_id=new_id(),
            channel=watch,
            ledger=Ledger(earlier=earlier),
            run=self._within or self._run_so_far(earlier),
            watch=watch,
        )
        equip = self._profile.equip
        return session if equip is None else equip(session)

    def _run_so_far(self, earlier: Sequence[CallRecord]) -> RunRecord:
        """What this conversation has read: the model still has it before its eyes."""
        run = RunRecord(said=self._text, said_before="\n".join(turn.said for turn in self._held.turns))
        for record in earlier:
            tool = self._house.orchestrator.registry.find(record.tool)
            if tool is not None and record.status in (CallStatus.DONE, CallStatus.FAILED):
                note_answer(run, tool.spec, [record.data, record.error])
        return run

    async def _answer(self) -> _Said:
        try:
            self._history = recall.read(self._held.history)
            if self._held.pending:
                return await self._with_pending()
            await self._answer_tools_question()
            return await self._fresh()
        except StewardError as error:
            return self._failed(error.explain())
        except Exception:
            logger.exception("turn_failed_unexpectedly", extra={"conversation": self._held.id})
            return self._failed(
                "Something went wrong inside Steward. Details are in the log under "
                f"{self._session.correlation_id}."
            )

    # --- a call of the turn before waits ---

    async def _with_pending(self) -> _Said:  # noqa: PLR0911 - one line a verdict
        approvals = self._house.orchestrator.approvals
        calls = PendingCalls(self._held.pending, approvals, speaker=self._speaker)
        heard = await calls.hear(self._text, session=self._session)
        match heard.verdict:
            case Verdict.DECIDED:
                return await self._resume(calls)
            case Verdict.DECIDED_ELSEWHERE:
                return await self._resume_and_ask(calls)
            case Verdict.TURNED_DOWN:
                return self._turned_down()
            case Verdict.NEW_REQUEST | Verdict.LEFT_WAITING:
                return await self._ask(self._text, deferred=calls.results(left_waiting=heard.waiting))
            case Verdict.NEXT:
                return self._still(heard.waiting)
            case Verdict.RUNNING:
                return self._still(self._held.pending, news="That was approved and is running now.")
            case Verdict.NO_RIGHT:
                ids = " ".join(call.proposal_id for call in heard.waiting)
                news = f"Only somebody who may approve can decide this: 'steward approve {ids}'."
                return self._still(heard.waiting, news=news)
            case _:
                assert_never(heard.verdict)

    def _turned_down(self) -> _Said:
        """A plain no needs no model: nothing ran, and nothing more was asked for."""
        [call] = self._held.pending
        draft = self._reviewed(Draft(text=f"Okay, I did not run `{call.tool}`.", confidence=1.0))
        told = failure(ErrorCode.PROPOSAL_REJECTED, "The person said no.")
        closed = recall.closed(self._history, self._held.pending, {call.tool_call_id: told})
        return _Said(draft=draft, messages=recall.answered(closed, draft.text))

    def _still(self, waiting: Sequence[PendingCall], *, news: str = "") -> _Said:
        """The question again, without asking the model."""
        text = f"{news} {waiting[0].question}".strip()
        draft = Draft(text=text, status=AnswerStatus.PENDING_APPROVAL)
        # All of them stay: the run goes on when the last one is decided.
        ordered = [*waiting, *(call for call in self._held.pending if call not in waiting)]
        return _Said(draft=draft, messages=self._history, pending=ordered)

    async def _resume(self, calls: PendingCalls) -> _Said:
        going_on = waiting_request(self._held.turns)
        if going_on:  # what follows is still about what was said then
            self._session = replace(self._session, utterance=going_on[0].said)
            self._session.run.said = f"{going_on[0].said}\n{self._text}"
            self._session.ledger.going_on = [call for turn in going_on for call in turn.answer.tool_calls]
        return await self._ask(None, deferred=calls.results())

    async def _resume_and_ask(self, calls: PendingCalls) -> _Said:
        said = await self._resume(calls)
        if said.pending or said.draft.status is AnswerStatus.FAILED:
            return said
        self._history = said.messages
        self._session = replace(self._session, utterance=self._text)
        self._session.ledger.going_on = ()
        more = await self._ask(self._text)
        return replace(more, draft=replace(more.draft, text=f"{said.draft.text}\n\n{more.draft.text}"))

    # --- the model's part ---

    async def _fresh(self) -> _Said:
        """Something new was said: the agent's own conduct comes first, then the model."""
        conduct = self._profile.conduct
        if conduct is None:
            return await self._ask(self._text)
        outcome = await run_work(conduct.before(self._as_turn()), limits=self._house.limits, stop=self._stop)
        if isinstance(outcome, Broken):
            return self._failed(self._with_account(outcome.error.explain()))
        if outcome is None:
            return await self._ask(self._text)
        draft = self._reviewed(outcome)
        return _Said(draft=draft, messages=recall.told(self._history, self._text, draft.text))

    def _as_turn(self) -> Turn:
        return Turn(
            text=self._session.utterance or self._text,
            session=self._session,
            ledger=self._session.ledger,
            tell=self._listener,
            answering=bool(self._held.turns) and self._held.turns[-1].answer.status is AnswerStatus.QUESTION,
        )

    async def _conducted(self, draft: Draft) -> Draft:
        """What the agent does with a draft before its rules look at it; failing at that costs no answer."""
        conduct = self._profile.conduct
        if conduct is None:
            return draft
        outcome = await run_work(
            conduct.after(self._as_turn(), draft), limits=self._house.limits, stop=self._stop
        )
        if isinstance(outcome, Broken):
            logger.warning("conduct_failed", extra={"agent": self._profile.name, "code": outcome.error.code})
            return draft
        return outcome

    async def _ask(self, prompt: str | None, *, deferred: DeferredToolResults | None = None) -> _Said:
        # In a thread: the first one imports and reads for seconds, and other conversations are waiting.
        model = await asyncio.to_thread(self._house.model)
        outcome = await run_agent(
            self._voice.agent,
            prompt,
            deps=self._session,
            model=model,
            limits=self._house.limits,
            stop=self._stop,
            history=self._history,
            deferred=deferred,
            toolsets=[self._voice.toolset],
            instrumentation=self._house.spans,
        )
        self.cost = outcome.cost
        if isinstance(outcome, Broken):
            draft = self._reviewed(
                Draft(text=self._with_account(outcome.error.explain()), status=AnswerStatus.FAILED)
            )
            messages = recall.broken_off(outcome.messages or self._history, prompt, draft.text)
            return _Said(draft=draft, messages=messages)
        if isinstance(outcome.output, DeferredToolRequests):
            return await self._waits(outcome.output, outcome)
        draft = self._reviewed(await self._conducted(draft_of(outcome, self._session.ledger.calls)))
        return _Said(draft=draft, messages=recall.answered(outcome.messages, draft.text))

    async def _waits(self, requests: DeferredToolRequests, outcome: Answered[Any]) -> _Said:
        calls = [await self._pending(part.tool_call_id, requests.metadata) for part in requests.approvals]
        # Our own words, which no rule may change: what is shown is what runs.
        draft = Draft(text=calls[0].question, status=AnswerStatus.PENDING_APPROVAL)
        return _Said(draft=draft, messages=outcome.messages, pending=calls)

    async def _pending(self, call_id: str, metadata: Mapping[str, Any]) -> PendingCall:
        """What waits, from the proposal itself: that is what a yes would run."""
        said = cast("Mapping[str, Any]", metadata.get(call_id) or {})
        proposal = await self._house.orchestrator.approvals.get(str(said.get("proposal_id")))
        call = PendingCall(
            tool_call_id=call_id,
            proposal_id=proposal.id,
            tool=proposal.tool,
            arguments=proposal.arguments,
            risk=proposal.risk.value,
            reason=proposal.reason,
            question="",
        )
        known = self._house.orchestrator.registry.find(proposal.tool)
        spec = None if known is None else known.spec
        shown = proposal.shown()
        asked = question_for(self._profile, spec, call, shown=shown, ledger=self._session.ledger)
        return replace(call, question=asked)

    def _reviewed(self, draft: Draft) -> Draft:
        reviewed = review(self._profile, draft, session=self._session)
        return reviewed if reviewed.text.strip() else replace(reviewed, text=WORDLESS)

    # --- when it goes wrong ---

    def _with_account(self, problem: str) -> str:
        """What was changed before it went wrong stands, and is said."""
        registry = self._house.orchestrator.registry
        changed = [
            record.tool
            for record in self._session.ledger.succeeded()
            if (tool := registry.find(record.tool)) is None or not reads_only(tool.spec)
        ]
        done = ", ".join(f"`{name}`" for name in dict.fromkeys(changed))
        return f"This was done: {done}. Then it went wrong: {problem}" if done else problem

    def _failed(self, text: str) -> _Said:
        draft = Draft(text=text, status=AnswerStatus.FAILED)
        if self._held.pending:  # still open, whatever went wrong with this turn
            return _Said(draft=draft, messages=self._history, pending=self._held.pending)
        return _Said(draft=draft, messages=recall.told(self._history, self._text, text))

    def _stopped(self) -> _Said:
        return self._failed(self._with_account("The run was stopped."))

    # --- a tool's own question ---

    async def _answer_tools_question(self) -> None:
        """What the person says now also answers the question that a tool left for them."""
        last = self._held.turns[-1].answer.tool_calls if self._held.turns else ()
        record = asking(last)
        if record is None or self._house.questions is None:
            return
        if not may_decide(self._speaker.decider, owner=self._speaker.user):
            return
        with suppress(StewardError):  # answered elsewhere, or not one of its choices: then it waits on
            await self._house.questions.answer(
                str(record.data.get("question_id")),
                self._text,
                by=self._speaker.caller.id,
                user=self._speaker.user,
            )

    # --- out ---

    def _as_answer(self, said: _Said) -> Answer:
        draft = said.draft
        waits = draft.status is AnswerStatus.PENDING_APPROVAL and said.pending
        return Answer(
            status=draft.status,
            agent=self._profile.name,
            conversation=self._held.id,
            answer=draft.text,
            reasoning=draft.reasoning or evidence.reasoning(self._session.ledger.calls),
            confidence=draft.confidence,
            tool_calls=tuple(self._session.ledger.calls),
            sources=draft.sources,
            proposal_id=said.pending[0].proposal_id if waits else None,
            missing_tools=draft.missing_tools,
        )

    async def _keep(self, said: _Said) -> Answer:
        answer = self._as_answer(said)
        if not self._kept:
            return answer
        history = recall.cut(said.messages, lambda: summarise(self._held.turns, pending=said.pending))
        turn = NewTurn(
            said=self._text,
            speaker=f"{self._speaker.caller.kind.value}:{self._speaker.caller.id}",
            answer=answer,
            history=recall.write(history),
            pending=said.pending,
            thread=None if self._thread is None else self._thread(answer.answer),
        )
        try:
            await self._house.store.append(self._held.id, turn)
        except StewardError as error:
            logger.warning("turn_not_kept", extra={"conversation": self._held.id, "problem": error.message})
            lost = "This turn could not be stored, so the next one will not know of it."
            return replace(answer, answer=f"{answer.answer}\n\n{lost} {error.explain()}")
        return answer

    async def _announce(self, answer: Answer, pending: Sequence[PendingCall]) -> None:
        for piece in pieces(answer.answer):
            await self._listener(TextWritten(piece))
        if answer.status is AnswerStatus.PENDING_APPROVAL and pending:
            first = pending[0]
            await self._listener(
                ApprovalWanted(
                    proposal_id=first.proposal_id,
                    tool=first.tool,
                    arguments=first.arguments,
                    risk=first.risk,
                    reason=first.reason,
                    question=first.question,
                )
            )
        await self._listener(Finished(answer))
