"""Talking with agents: who is there, and taking a turn with one of them.

Owns that a turn runs by its speaker's clock, and that agents reach each other only through the door. Keeps
nothing between requests but which turns run now (running.py), so that they can be stopped.
"""

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, tzinfo
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests, RunContext

from steward.agents.profile import Profile
from steward.agents.session import AgentSession
from steward.agents.turn import recall
from steward.agents.turn import sources as evidence
from steward.agents.turn.context import ReadyAgent, TurnContext
from steward.agents.turn.journal import Journal
from steward.agents.turn.running import RunningTurns
from steward.agents.turn.toolset import OrchestratorToolset, reads_only
from steward.agents.turn.turn import TurnRun
from steward.agents.turn.watching import Listener, nobody
from steward.contract.call import Caller, CallerKind, new_id
from steward.contract.errors import ConflictError, ErrorCode, ForbiddenError, NotFoundError
from steward.contract.runs import RunRecord
from steward.conversations.clock import in_zone, now_for_speaker
from steward.conversations.history import accounted
from steward.conversations.model import (
    Answer,
    AnswerStatus,
    Conversation,
    LeftTurn,
    NewTurn,
    Opening,
    Speaker,
)
from steward.conversations.turns import read_message, title_of
from steward.models.runs import Stop, Writing

DEFAULT_AGENT = "assistant"
MOST_AGENTS_IN_A_ROW = 3
MOST_RESUMED = 3

_chain: ContextVar[tuple[str, ...]] = ContextVar("agents_asking", default=())


ZoneOf = Callable[[str], Awaitable[tzinfo | None]]


async def machines_zone(_: str) -> None:
    """For whoever has told no zone of their own."""


class Chat:
    def __init__(
        self,
        context: TurnContext,
        profiles: Sequence[Profile],
        *,
        now: Callable[[], datetime] = now_for_speaker,
        zone_of: ZoneOf = machines_zone,
    ) -> None:
        self._context = context
        self._ready = {profile.name: _make_ready(context, profile, now) for profile in profiles}
        self._running = RunningTurns(context.store)
        self._zone_of = zone_of

    @property
    def profiles(self) -> Mapping[str, Profile]:
        return {name: ready.profile for name, ready in self._ready.items()}

    async def begin(
        self,
        message: str,
        *,
        speaker: Speaker,
        agent: str | None = None,
        conversation: str | None = None,
        past: Sequence[tuple[str, str]] = (),
        thread: Callable[[Answer], str] | None = None,
    ) -> "StartedTurn":
        """Hold the conversation for this turn, or say why that cannot be; then `run` it.

        `past` is what a client says was said before, for a new conversation; `thread` makes the fingerprint
        of what that client will send next from the answer.
        """
        text = read_message(message)
        zone = await self._zone_of(speaker.user)
        history = recall.write(recall.of_words(past)) if past else "[]"
        opening = Opening(said=text, caller=speaker.caller, history=history)
        if conversation is None:
            ready = self._ready_agent(agent or DEFAULT_AGENT)
            held = await self._context.store.create(
                new_id(), user=speaker.user, agent=ready.profile.name, title=title_of(text), opening=opening
            )
        else:
            held, ready = await self._claimed(conversation, agent, user=speaker.user, opening=opening)
        return self._started(held, ready, text=text, speaker=speaker, zone=zone, thread=thread)

    async def _claimed(
        self, conversation: str, agent: str | None, *, user: str, opening: Opening
    ) -> tuple[Conversation, ReadyAgent]:
        store = self._context.store
        held = await store.claim(conversation, user=user, opening=opening)
        if (
            held.left is not None
        ):  # something new is said: what was left is accounted for, and not gone on with
            await self._account(held, held.left)
            held = await store.claim(conversation, user=user, opening=opening)
        try:
            return held, self._same_agent(held, agent)
        except BaseException:
            await store.release(held)
            raise

    def _started(
        self,
        held: Conversation,
        ready: ReadyAgent,
        *,
        text: str,
        speaker: Speaker,
        zone: tzinfo | None,
        thread: Callable[[Answer], str] | None = None,
    ) -> "StartedTurn":
        stop = self._running.begin(held)
        run = TurnRun(
            self._context,
            ready,
            held=held,
            text=text,
            speaker=speaker,
            stop=stop,
            thread=thread,
            # A schedule speaks for itself: its words are not what somebody says now.
            within=RunRecord() if speaker.caller.kind is CallerKind.SYSTEM else None,
        )
        return StartedTurn(run, stop, zone=zone, ended=lambda: self._running.end(held))

    async def queue(
        self,
        message: str,
        *,
        speaker: Speaker,
        agent: str | None = None,
        conversation: str | None = None,
    ) -> Conversation:
        """Keep what was said for a worker, which goes on with `resume` and the lease's number.

        Nothing said in it is a yes: with what right somebody may decide is known only while they are there.
        """
        started = await self.begin(message, speaker=speaker, agent=agent, conversation=conversation)
        held = started.abandon()
        if not await self._context.store.queue(held):
            raise NotFoundError(f"There is no conversation '{held.id}' any more.")
        return held

    async def resume(
        self, conversation: str, *, user: str, queued: int | None = None
    ) -> "StartedTurn | None":
        """Go on with a turn that its program left, or with a queued one. None: there is none to take."""
        held = await self._context.store.claim_left(conversation, user=user, queued=queued)
        if held is None or held.left is None:
            return None
        left = held.left
        if left.resumed > MOST_RESUMED:  # it may be what ends the programs
            await self._account(held, left)
            return None
        zone = await self._zone_of(user)
        speaker = Speaker(user=user, caller=left.caller)
        return self._started(held, self._ready_agent(held.agent), text=left.said, speaker=speaker, zone=zone)

    async def _account(self, held: Conversation, left: LeftTurn) -> None:
        """Close a turn that nobody goes on with: what it did, and what nobody knows."""
        journal = Journal(self._context.store, held, changes=self._changes)
        calls = journal.account()
        text = accounted(calls, "Steward was interrupted in this turn.", changes=self._changes)
        answer = Answer(
            status=AnswerStatus.FAILED,
            agent=held.agent,
            conversation=held.id,
            answer=text,
            reasoning=evidence.reasoning(calls),
            tool_calls=tuple(calls),
        )
        turn = NewTurn(
            said=left.said,
            speaker=f"{left.caller.kind.value}:{left.caller.id}",
            answer=answer,
            history=recall.write(recall.told(recall.read(held.history), left.said, text)),
            pending=held.pending,
        )
        await self._context.store.append(held, turn)

    def _changes(self, name: str) -> bool:
        tool = self._context.orchestrator.registry.find(name)
        return tool is None or not reads_only(tool.spec)

    async def turn(
        self,
        message: str,
        *,
        speaker: Speaker,
        agent: str | None = None,
        conversation: str | None = None,
        listener: Listener = nobody,
    ) -> Answer:
        started = await self.begin(message, speaker=speaker, agent=agent, conversation=conversation)
        return await started.run(listener)

    def stop(self, conversation: str, *, user: str) -> bool:
        """End the turn of this conversation that runs here; False when none does."""
        return self._running.stop(conversation, user=user)

    async def consult(
        self, agent: str, request: str, *, user: str, asked_by: Caller, within: RunRecord | None = None
    ) -> Answer:
        """One agent asks another: nothing is kept, and nothing said is a person's yes or a person's words.

        `within` is the run of who asks: what either reads, both have read.
        """
        with _asked(agent):
            now = datetime.now(UTC)
            held = Conversation(id="", user=user, agent=agent, title="", created_at=now, updated_at=now)
            run = TurnRun(
                self._context,
                self._ready_agent(agent),
                held=held,
                text=read_message(request),
                speaker=Speaker(user=user, caller=Caller(CallerKind.AGENT, asked_by.id)),
                stop=Stop(),
                kept=False,
                within=within or RunRecord(),
            )
            with in_zone(await self._zone_of(user)):
                return await run.run()

    def _ready_agent(self, name: str) -> ReadyAgent:
        ready = self._ready.get(name)
        if ready is None:
            raise NotFoundError(
                f"There is no agent '{name[:80]}' to talk to.",
                code=ErrorCode.AGENT_NOT_FOUND,
                fix=f"Choose one of {', '.join(self._ready)}.",
            )
        return ready

    def _same_agent(self, held: Conversation, agent: str | None) -> ReadyAgent:
        if agent is not None and agent != held.agent:
            self._ready_agent(agent)
            raise ConflictError(
                f"This conversation is with '{held.agent}', not with '{agent}'.",
                fix="Leave the agent out, or start a new conversation.",
            )
        return self._ready_agent(held.agent)


class StartedTurn:
    """A turn whose conversation is held; it must be run."""

    def __init__(self, run: TurnRun, stop: Stop, *, zone: tzinfo | None, ended: Callable[[], object]) -> None:
        self._run = run
        self._zone = zone
        self._ended = ended
        self.stop = stop

    @property
    def conversation(self) -> str:
        return self._run.conversation

    def abandon(self) -> Conversation:
        """Do not run it here; what was said is kept for whoever goes on with it."""
        self._ended()
        return self._run.held

    @property
    def tokens(self) -> tuple[int, int]:
        """Read and written by the model, once it ran."""
        return self._run.cost.input_tokens, self._run.cost.output_tokens

    async def run(
        self,
        listener: Listener = nobody,
        *,
        to_be_left: Callable[[], bool] = lambda: False,
        writing: Writing | None = None,
    ) -> Answer:
        """`to_be_left` is asked when this is cancelled: whether somebody else is to go on with the turn.

        `writing` hears what the model writes before the agent's rules have checked it.
        """
        self._run.to_be_left = to_be_left
        self._run.writing = writing
        try:
            with in_zone(self._zone):
                return await self._run.run(listener)
        finally:
            self._ended()


@contextmanager
def _asked(agent: str) -> Generator[None]:
    """Agents that ask each other in circles, or too deep, hear so."""
    chain = _chain.get()
    if agent in chain or len(chain) >= MOST_AGENTS_IN_A_ROW:
        raise ForbiddenError(
            f"'{agent}' is being asked already ({' -> '.join((*chain, agent))}).", fix="Answer without it."
        )
    token = _chain.set((*chain, agent))
    try:
        yield
    finally:
        _chain.reset(token)


def _make_ready(context: TurnContext, profile: Profile, now: Callable[[], datetime]) -> ReadyAgent:
    agent: Agent[AgentSession, Any] = (
        _plain_agent(profile) if profile.make_agent is None else profile.make_agent()
    )

    def today(_: RunContext[AgentSession]) -> str:
        return f"It is {now():%A, %Y-%m-%d %H:%M %Z}."

    agent.instructions(today)
    return ReadyAgent(profile, agent, OrchestratorToolset(context.orchestrator, profile.offer))


def _plain_agent(profile: Profile) -> Agent[AgentSession, Any]:
    return Agent[AgentSession, Any](
        output_type=[str, DeferredToolRequests],
        deps_type=AgentSession,
        name=profile.name,
        instructions=profile.instructions,
    )
