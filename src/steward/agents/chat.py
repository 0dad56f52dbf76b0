"""Talking with agents: who is there, and taking a turn with one of them.

Owns that a turn runs by its speaker's clock, and that agents reach each other only through the door. Keeps
nothing between requests but which turns run now (running.py), so that they can be stopped.
"""

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests, RunContext

from steward.agents import recall
from steward.agents.house import House, Voice
from steward.agents.profile import Profile
from steward.agents.running import RunningTurns
from steward.agents.session import Session
from steward.agents.toolset import OrchestratorToolset
from steward.agents.turn import TurnRun
from steward.agents.watching import Listener, nobody
from steward.contract.call import Caller, CallerKind, new_id
from steward.contract.errors import ConflictError, ErrorCode, ForbiddenError, NotFoundError
from steward.contract.runs import RunRecord
from steward.conversations.clock import in_zone, now_for_speaker
from steward.conversations.model import Answer, Conversation, Speaker
from steward.conversations.turns import read_message, title_of
from steward.models.runs import Stop

DEFAULT_AGENT = "assistant"
MOST_AGENTS_IN_A_ROW = 3

_chain: ContextVar[tuple[str, ...]] = ContextVar("agents_asking", default=())


ZoneOf = Callable[[str], Awaitable[tzinfo | None]]


async def machines_zone(_: str) -> None:
    """For whoever has told no zone of their own."""


class Chat:
    def __init__(
        self,
        house: House,
        profiles: Sequence[Profile],
        *,
        now: Callable[[], datetime] = now_for_speaker,
        zone_of: ZoneOf = machines_zone,
    ) -> None:
        self._house = house
        self._voices = {profile.name: _voice(house, profile, now) for profile in profiles}
        self._running = RunningTurns(house.store)
        self._zone_of = zone_of

    @property
    def profiles(self) -> Mapping[str, Profile]:
        return {name: voice.profile for name, voice in self._voices.items()}

    async def begin(
        self,
        message: str,
        *,
        speaker: Speaker,
        agent: str | None = None,
        conversation: str | None = None,
        past: Sequence[tuple[str, str]] = (),
        thread: Callable[[str], str] | None = None,
    ) -> "StartedTurn":
        """Hold the conversation for this turn, or say why that cannot be; then `run` it.

        `past` is what a client says was said before, for a new conversation; `thread` makes the fingerprint
        of what that client will send next from the answer.
        """
        text = read_message(message)
        store = self._house.store
        zone = await self._zone_of(speaker.user)
        if conversation is None:
            voice = self._voice(agent or DEFAULT_AGENT)
            held = await store.create(
                new_id(), user=speaker.user, agent=voice.profile.name, title=title_of(text)
            )
        else:
            held = await store.claim(conversation, user=speaker.user)
            try:
                voice = self._same_voice(held, agent)
            except BaseException:
                await store.release(held.id)
                raise
        if past:
            held = _with_past(held, past)
        stop = self._running.begin(held.id, user=speaker.user)
        run = TurnRun(self._house, voice, held=held, text=text, speaker=speaker, stop=stop, thread=thread)
        return StartedTurn(run, stop, zone=zone, ended=lambda: self._running.end(held.id))

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
                self._house,
                self._voice(agent),
                held=held,
                text=read_message(request),
                speaker=Speaker(user=user, caller=Caller(CallerKind.AGENT, asked_by.id)),
                stop=Stop(),
                kept=False,
                within=within or RunRecord(),
            )
            with in_zone(await self._zone_of(user)):
                return await run.run()

    def _voice(self, name: str) -> Voice:
        voice = self._voices.get(name)
        if voice is None:
            raise NotFoundError(
                f"There is no agent '{name[:80]}' to talk to.",
                code=ErrorCode.AGENT_NOT_FOUND,
                fix=f"Choose one of {', '.join(self._voices)}.",
            )
        return voice

    def _same_voice(self, held: Conversation, agent: str | None) -> Voice:
        if agent is not None and agent != held.agent:
            self._voice(agent)
            raise ConflictError(
                f"This conversation is with '{held.agent}', not with '{agent}'.",
                fix="Leave the agent out, or start a new conversation.",
            )
        return self._voice(held.agent)


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

    @property
    def tokens(self) -> tuple[int, int]:
        """Read and written by the model, once it ran."""
        return self._run.cost.input_tokens, self._run.cost.output_tokens

    async def run(self, listener: Listener = nobody) -> Answer:
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


def _voice(house: House, profile: Profile, now: Callable[[], datetime]) -> Voice:
    agent: Agent[Session, Any] = _plain_agent(profile) if profile.make_agent is None else profile.make_agent()

    def today(_: RunContext[Session]) -> str:
        return f"It is {now():%A, %Y-%m-%d %H:%M %Z}."

    agent.instructions(today)
    return Voice(profile, agent, OrchestratorToolset(house.orchestrator, profile.offer))


def _plain_agent(profile: Profile) -> Agent[Session, Any]:
    return Agent[Session, Any](
        output_type=[str, DeferredToolRequests],
        deps_type=Session,
        name=profile.name,
        instructions=profile.instructions,
    )


def _with_past(held: Conversation, past: Sequence[tuple[str, str]]) -> Conversation:
    return replace(held, history=recall.write(recall.of_words(past)))
