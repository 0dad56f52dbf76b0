"""One turn: what a person said in, an answer out, and everything in between on the record.

Owns the order of a turn: decide what waits, run the model, look at what it says, keep it. The same for every
agent; what differs is in its profile. Keeps nothing: what the next turn needs is in the store.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, assert_never, cast

from pydantic_ai import DeferredToolRequests, DeferredToolResults

from steward.agents.profile import Draft, TurnView
from steward.agents.session import AgentSession
from steward.agents.talk.own_record import asks_what_again, asks_why
from steward.agents.talk.sofar import done_so_far, why_asked
from steward.agents.turn import recall
from steward.agents.turn import sources as evidence
from steward.agents.turn.calls import call_through
from steward.agents.turn.context import ReadyAgent, TurnContext
from steward.agents.turn.drafting import WORDLESS, asking, draft_of
from steward.agents.turn.journal import Journal, current_journal
from steward.agents.turn.ledger import Ledger
from steward.agents.turn.pending import PendingCalls, ReplyVerdict
from steward.agents.turn.results import failure
from steward.agents.turn.toolset import reads_only
from steward.agents.turn.watching import Listener, TurnWatch, nobody, question_for, review
from steward.contract.call import CallerKind, Done, new_id
from steward.contract.errors import ErrorCode, StewardError
from steward.contract.runs import RunRecord
from steward.conversations.clock import now_for_speaker
from steward.conversations.history import accounted, summarise
from steward.conversations.model import (
    Answer,
    AnswerStatus,
    ApprovalWanted,
    CallRecord,
    CallStatus,
    Conversation,
    NewTurn,
    PendingCall,
    Speaker,
    TextWritten,
    TurnFinished,
)
from steward.conversations.turns import pieces, waiting_request
from steward.language.wishes import parts_of
from steward.models.planner.dialogue import following
from steward.models.runs import Answered, Broken, RunCost, Stop, Writing, reading_along, run_agent, run_work
from steward.policy.leaks import note_answer
from steward.policy.who_decides import may_decide
from steward.tasks.notices import Notice, NoticeKind
from steward.telemetry.masking import MASKER

logger = logging.getLogger(__name__)

NOT_KEPT = (
    "This turn was not kept: its conversation was deleted meanwhile, or another Steward took it over. "
    "Look at the conversation for what holds."
)
ASKS_A_PERSON = "request_human_input"
LONGEST_QUESTION = 4_000
LASTING_HINT = 'You may also answer "always" (for this tool), "always for these arguments" or "never".'
AFTER_THAT = "\n\nAfter that comes {}."
WENT_ON = "(Steward was interrupted in this turn, and went on from there.)"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """An answer on its way out, and the history it leaves."""

    draft: Draft
    messages: recall.Messages
    pending: Sequence[PendingCall] = ()


def _also(said: _Said, news: str) -> _Said:
    return replace(said, draft=replace(said.draft, text=f"{said.draft.text}\n\n{news}")) if news else said


class TurnRun:
    """Made by `Chat.begin`, which holds the conversation for it; `run` lets go of it in every case."""

    def __init__(
        self,
        context: TurnContext,
        ready: ReadyAgent,
        *,
        held: Conversation,
        text: str,
        speaker: Speaker,
        stop: Stop,
        kept: bool = True,
        thread: Callable[[Answer], str] | None = None,
        within: RunRecord | None = None,
    ) -> None:
        self._context = context
        self._ready_agent = ready
        self._profile = ready.profile
        self._held = held
        self._text = text
        self._speaker = speaker
        self._stop = stop
        self._kept = kept
        self._thread = thread
        self._within = within
        self._listener: Listener = nobody
        self._history: recall.Messages = ()
        self._session = AgentSession(agent=ready.profile.name)
        self.cost = RunCost()
        self.to_be_left: Callable[[], bool] = lambda: False  # when cancelled: another worker goes on with it
        self.writing: Writing | None = None  # hears a draft before it is checked; only the person's own page

    @property
    def held(self) -> Conversation:
        return self._held

    @property
    def conversation(self) -> str:
        return self._held.id

    async def run(self, listener: Listener = nobody) -> Answer:
        self._listener = listener
        token = current_journal.set(self._journal())
        try:
            return await self._run()
        finally:
            current_journal.reset(token)

    def _journal(self) -> Journal | None:
        """This turn's own, or that of the turn in whose middle this agent is asked."""
        if not self._kept:
            return current_journal.get()
        return Journal(self._context.store, self._held, changes=self._changes)

    async def _run(self) -> Answer:
        self._session = self._new_session()
        tracer = self._context.tracer
        with tracer.agent_run(
            self._text,
            agent=self._profile.name,
            conversation=self._held.id or None,
            correlation_id=self._session.correlation_id,
            user=self._session.user,
        ) as span:
            try:
                said = await self._answer()
            except asyncio.CancelledError:
                await asyncio.shield(self._leave() if self.to_be_left() else self._keep(self._stopped()))
                raise
            untold = await self._untold()
            said = self._with_news(said, untold)
            answer = self._as_answer(said)
            shown = self._session.ledger.shown
            span.finish(
                result_type=answer.status.value,
                confidence_score=answer.confidence,
                tool_calls_count=len(answer.tool_calls),
                tokens_saved=None if shown is None else shown.tokens_saved,
            )
        answer = await self._keep(said)
        await self._note_told(untold)
        await self._note_gap(answer)
        await self._announce(answer, said.pending)
        return answer

    # --- calls that a kill interrupted ---

    async def _untold(self) -> Sequence[Notice]:
        """The user's own, from anywhere, that nobody has told them of."""
        notices, user = self._context.notices, self._session.user
        if notices is None or user is None or not self._kept:
            return ()
        try:
            return await notices.untold(user, NoticeKind.INTERRUPTED)
        except StewardError as error:  # the answer stands, and the next turn tells it
            logger.warning("interruptions_not_read", extra={"problem": error.message})
            return ()

    def _with_news(self, said: _Said, untold: Sequence[Notice]) -> _Said:
        """They come first: whatever is said next may build on them. This turn's own calls it tells itself."""
        own = {call.call_id for call in self._session.ledger.calls if call.outcome_unknown}
        news = [f"Before that, '{each.title}': {each.text}" for each in untold if each.source not in own]
        if not news:
            return said
        return replace(said, draft=replace(said.draft, text="\n\n".join((*news, said.draft.text))))

    async def _note_told(self, notices: Sequence[Notice]) -> None:
        for notice in notices:
            assert self._context.notices is not None
            with suppress(StewardError):  # told once more, then
                await self._context.notices.see(notice.user_id, notice.id, at=datetime.now(UTC))

    async def _note_gap(self, answer: Answer) -> None:
        user = self._session.user
        if not answer.missing_tools or self._context.gaps is None or user is None:
            return
        task = MASKER.value(self._text)
        try:
            await self._context.gaps.record(user, answer.missing_tools, task=task, agent=answer.agent)
        except StewardError as error:  # the answer stands, written down or not
            logger.warning("gap_not_recorded", extra={"problem": error.message})

    def _new_session(self) -> AgentSession:
        watch, speaker = TurnWatch(self._profile, self._listener), self._speaker.caller
        earlier = [call for turn in self._held.turns for call in turn.answer.tool_calls]
        session = AgentSession(
            agent=self._profile.name,
            errand=speaker.id if speaker.kind is CallerKind.SYSTEM else None,
            user=self._speaker.user,
            utterance=self._text,
            conversation=self._held.id or None,
            correlation_id=new_id(),
            channel=watch,
            ledger=Ledger(earlier=earlier),
            run=self._within or self._run_so_far(earlier),
            watch=watch,
            journal=current_journal.get(),
        )
        equip = self._profile.equip
        return session if equip is None else equip(session)

    def _run_so_far(self, earlier: Sequence[CallRecord]) -> RunRecord:
        """What this conversation has read: the model still has it before its eyes."""
        run = RunRecord(said=self._text, said_before="\n".join(turn.said for turn in self._held.turns))
        for record in earlier:
            tool = self._context.orchestrator.registry.find(record.tool)
            if tool is not None and record.status in (CallStatus.DONE, CallStatus.FAILED):
                note_answer(run, tool.spec, [record.data, record.error], given=record.arguments)
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
        approvals = self._context.orchestrator.approvals
        if asks_why(self._text):  # neither a yes nor a no: it is told, and still waits
            return self._still(self._held.pending, news=why_asked(self._held.pending[0].reason))
        if asks_what_again(self._text):
            return self._still(self._held.pending)
        calls = PendingCalls(self._held.pending, approvals, speaker=self._speaker)
        heard = await calls.hear(self._text, session=self._session)
        match heard.verdict:
            case ReplyVerdict.DECIDED:
                return _also(await self._resume(calls), heard.news)
            case ReplyVerdict.DECIDED_ELSEWHERE:
                return await self._resume_and_ask(calls)
            case ReplyVerdict.TURNED_DOWN:
                more = parts_of(going_on[0].said) if (going_on := waiting_request(self._held.turns)) else ()
                return _also(await self._resume(calls) if more else self._turned_down(), heard.news)
            case ReplyVerdict.NEW_REQUEST | ReplyVerdict.LEFT_WAITING:
                return await self._ask(self._text, deferred=calls.results(left_waiting=heard.waiting))
            case ReplyVerdict.NEXT | ReplyVerdict.ONCE_ONLY:
                return self._still(heard.waiting, news=heard.news)
            case ReplyVerdict.RUNNING:
                return self._still(self._held.pending, news="That was approved and is running now.")
            case ReplyVerdict.NO_RIGHT:
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
        text = f"{news} {_asked(waiting)}".strip()
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
        if self._profile.away is not None and not self._has_tools():
            return self._failed(self._profile.away)
        return await self._asked_for(await self._first())

    async def _first(self) -> _Said:
        conduct = self._profile.conduct
        if conduct is None:
            return await self._ask(self._text)
        outcome = await run_work(
            conduct.before(self._as_turn()), limits=self._context.limits, stop=self._stop
        )
        if isinstance(outcome, Broken):
            return self._failed(self._with_account(outcome.error.explain()))
        if outcome is None:
            return await self._ask(self._text)
        draft = self._reviewed(outcome)
        return _Said(draft=draft, messages=recall.told(self._history, self._text, draft.text))

    async def _asked_for(self, said: _Said) -> _Said:
        """What is missing is asked for by the tool that asks people, where the agent has it.

        Whoever is behind the call answers there and then, and the turn goes on with it; otherwise the
        question stands in the answer and waits for the next turn.
        """
        tool = self._context.orchestrator.registry.find(ASKS_A_PERSON)
        if said.draft.status is not AnswerStatus.QUESTION or tool is None or not tool.available:
            return said
        called = any(record.tool == ASKS_A_PERSON for record in self._session.ledger.calls)
        if called or not self._profile.offer.includes(tool):
            return said
        question = {"question": said.draft.text[:LONGEST_QUESTION]}
        result = await call_through(self._context.orchestrator, tool.spec, question, session=self._session)
        if not isinstance(result, Done) or result.data.get("asked_before"):  # that was about something else
            return said
        self._history = said.messages
        return await self._ask(str(result.data["answer"]))

    def _has_tools(self) -> bool:
        offered = self._profile.offer.includes
        return any(tool.available and offered(tool) for tool in self._context.orchestrator.registry)

    def _as_turn(self) -> TurnView:
        return TurnView(
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
            conduct.after(self._as_turn(), draft), limits=self._context.limits, stop=self._stop
        )
        if isinstance(outcome, Broken):
            logger.warning("conduct_failed", extra={"agent": self._profile.name, "code": outcome.error.code})
            return draft
        return outcome

    async def _ask(self, prompt: str | None, *, deferred: DeferredToolResults | None = None) -> _Said:
        # In a thread: the first one imports and reads for seconds, and other conversations are waiting.
        model = await asyncio.to_thread(self._context.model)
        outcome = await run_agent(
            self._ready_agent.agent,
            prompt,
            deps=self._session,
            model=model,
            limits=self._context.limits,
            stop=self._stop,
            history=self._history,
            deferred=deferred,
            toolsets=[self._ready_agent.toolset],
            instrumentation=self._context.spans,
            on_event=reading_along(self.writing, model),
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
        # Our own words, which no rule may change: what is shown is what runs. What was done before is told
        # first.
        done = done_so_far(self._session.ledger.calls, changes=self._changes, now=now_for_speaker())
        later = ", ".join(f"“{each}”" for each in following(outcome.messages))
        then = AFTER_THAT.format(later) if later else ""
        draft = Draft(text=f"{done}{_asked(calls)}{then}", status=AnswerStatus.PENDING_APPROVAL)
        return _Said(draft=draft, messages=outcome.messages, pending=calls)

    async def _pending(self, call_id: str, metadata: Mapping[str, Any]) -> PendingCall:
        """What waits, from the proposal itself: that is what a yes would run."""
        said = cast("Mapping[str, Any]", metadata.get(call_id) or {})
        proposal = await self._context.orchestrator.approvals.get(str(said.get("proposal_id")))
        call = PendingCall(
            tool_call_id=call_id,
            proposal_id=proposal.id,
            tool=proposal.tool,
            arguments=proposal.arguments,
            risk=proposal.risk.value,
            reason=proposal.reason,
            question="",
        )
        known = self._context.orchestrator.registry.find(proposal.tool)
        spec = None if known is None else known.spec
        shown = proposal.shown()
        asked = question_for(self._profile, spec, call, shown=shown, ledger=self._session.ledger)
        offer = await asyncio.to_thread(self._context.orchestrator.approvals.offer, proposal)
        return replace(call, question=asked, hint=LASTING_HINT if offer.always else "")

    def _reviewed(self, draft: Draft) -> Draft:
        reviewed = review(self._profile, draft, session=self._session)
        reviewed = reviewed if reviewed.text.strip() else replace(reviewed, text=WORDLESS)
        # Nothing came of what was tried: whatever the words, it went wrong for whoever waits for it.
        failed = any(each.status is CallStatus.FAILED for each in self._session.ledger.calls)
        if failed and reviewed.status is AnswerStatus.DONE and reviewed.confidence == 0.0:
            return replace(reviewed, status=AnswerStatus.FAILED)
        return reviewed

    # --- when it goes wrong ---

    def _with_account(self, problem: str) -> str:
        """What was changed before it went wrong stands, and is said; so is what nobody knows."""
        if self._kept and self._session.journal is not None:
            for record in self._session.journal.account():  # of the turn before, where this one goes on
                self._session.ledger.note(record)
        return accounted(self._session.ledger.calls, problem, changes=self._changes)

    def _changes(self, name: str) -> bool:
        tool = self._context.orchestrator.registry.find(name)
        return tool is None or not reads_only(tool.spec)

    async def _leave(self) -> None:
        await self._context.store.leave(self._held)

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
        if record is None or self._context.questions is None:
            return
        if not may_decide(self._speaker.decider, owner=self._speaker.user):
            return
        with suppress(StewardError):  # answered elsewhere, or not one of its choices: then it waits on
            await self._context.questions.answer(
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
            answer=f"{draft.text}\n\n{WENT_ON}" if self._went_on else draft.text,
            reasoning=draft.reasoning or evidence.reasoning(self._session.ledger.calls),
            confidence=draft.confidence,
            tool_calls=tuple(self._session.ledger.calls),
            sources=draft.sources,
            proposal_id=said.pending[0].proposal_id if waits else None,
            missing_tools=draft.missing_tools,
        )

    @property
    def _went_on(self) -> bool:
        return self._kept and self._held.left is not None and self._held.left.resumed > 0

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
            thread=None if self._thread is None else self._thread(answer),
        )
        try:
            kept = await self._context.store.append(self._held, turn)
        except StewardError as error:
            logger.warning("turn_not_kept", extra={"conversation": self._held.id, "problem": error.message})
            lost = f"This turn could not be stored, so the next one may not know of it. {error.explain()}"
            return replace(answer, answer=f"{answer.answer}\n\n{lost}")
        if kept:
            return answer
        logger.warning("turn_not_kept", extra={"conversation": self._held.id, "problem": "lost or deleted"})
        return replace(answer, status=AnswerStatus.FAILED, answer=f"{answer.answer}\n\n{NOT_KEPT}")

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
        await self._listener(TurnFinished(answer))


def _asked(waiting: Sequence[PendingCall]) -> str:
    """The first one's question, and how many there are: each is asked about on its own."""
    many = "" if len(waiting) == 1 else f"{len(waiting)} calls wait for your yes; this is the first. "
    return f"{many}{waiting[0].asked}"
