"""Who answers a request of OpenAI's protocol: an agent's turn, or the model itself.

A program keeps the conversation itself and sends all of it every time. What was said so far is its
fingerprint: it finds the stored conversation, with the calls and approvals that the program knows nothing
of. One that matches none (edited, regenerated, from elsewhere) starts a new one from the words it brings. A
program runs the tools that it brings itself: where one of them is what was asked for, its call goes back and
no agent runs; where none is, the agent answers as if none had been brought. A form is the model's to fill.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steward.bootstrap import Platform
from steward.contract.errors import ErrorCode, InputError, ModelError, NotFoundError
from steward.conversations.model import Answer, AnswerStatus, CallStarted, Progress, Speaker, TurnFinished
from steward.conversations.turns import LONGEST
from steward.models.asking import PlainAsk, SaidMessage, Written, beside, for_the_agent, with_handover
from steward.surfaces.api.openai.asking import Wanted
from steward.surfaces.api.openai.wire import Cut, UnservedParameterError, count
from steward.surfaces.api.routes.chat import follow

if TYPE_CHECKING:
    from steward.agents.chat import StartedTurn

NEEDS_MODEL = "Set STEWARD_MODEL to a language model, or leave it out."
MOST_OF_OURS = 12  # tools of ours that stand beside a program's when it is chosen among them


@dataclass(frozen=True, slots=True)
class AnswerProgress:
    """What happens meanwhile, for whoever watches."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerWords:
    """A piece of the answer."""

    text: str


AnswerStep = AnswerProgress | AnswerWords | Written | None
"""None is a sign of life; `Written` comes last, and holds the whole."""


def require_model(platform: Platform, name: str) -> None:
    if all(kind.name != name for kind in platform.agents.kinds):
        names = ", ".join(kind.name for kind in platform.agents.kinds)
        raise NotFoundError(
            f"The model '{name[:80]}' does not exist.",
            code="model_not_found",
            fix=f"Use one of {names}.",
            details={"parameter": "model"},
        )


@dataclass(frozen=True, slots=True)
class Begun:
    """An answer on its way. `conversation` is None where none is kept."""

    conversation: str | None
    steps: AsyncGenerator[AnswerStep]


async def begin(platform: Platform, wanted: Wanted, who: Speaker) -> Begun:
    """Raises what is wrong with the request before anything is answered."""
    require_model(platform, wanted.model)
    if wanted.brings_its_own or wanted.offers_tools:
        if wanted.conversation is not None:
            raise UnservedParameterError(
                "previous_response_id",
                "A model that is brought tools or a form keeps nothing.",
                fix="Send what was said before as `input`.",
            )
        steps = _from_model(platform, wanted, who)
        try:
            return Begun(None, _after(await anext(steps), steps))
        except StopAsyncIteration:  # none of the program's tools is what was asked for
            wanted = replace(wanted, asked=replace(wanted.asked, tools=()))
    started = await _turn(platform, wanted, who)
    return Begun(started.conversation, _from_agent(started, wanted))


async def _after(first: AnswerStep, steps: AsyncGenerator[AnswerStep]) -> AsyncGenerator[AnswerStep]:
    """The first step is taken before anything is sent: until then a refusal can still be one."""
    yield first
    async for step in steps:
        yield step


async def whole(begun: Begun) -> Written:
    async for step in begun.steps:
        if isinstance(step, Written):
            return step
    raise ModelError(
        "The answer broke off.", fix="Ask again."
    )  # pragma: no cover - the last step is the whole


# --- an agent ---


async def _turn(platform: Platform, wanted: Wanted, who: Speaker) -> "StartedTurn":
    messages = wanted.asked.messages
    said = [
        (each.role, each.text.strip())
        for each in messages
        if each.role == "user" or (each.role == "assistant" and (each.text or not each.calls))
    ]
    if not said or said[-1][0] != "user":
        raise InputError("The last message is not the user's.", fix="Send one with the role 'user'.")
    past, (_, message) = said[:-1], said[-1]
    talking, agent = await platform.agents.chat(), wanted.model
    known = wanted.conversation
    told = [(each.role, each.text) for each in messages if each.role == "system"]
    if known is None and past:
        known = await platform.agents.conversations.find(thread_of(agent, past), user=who.user)
    return await talking.begin(
        message,
        speaker=who,
        agent=agent,
        conversation=known,
        past=[*told, *past] if known is None else (),
        thread=lambda answer: thread_of(
            agent, [*said, ("assistant", _cut_of(answer, wanted.cut)(answer.answer))]
        ),
    )


def _cut_of(answer: Answer, cut: Cut) -> Cut:
    """Where this answer ends. What waits for a yes is told whole: nobody agrees to what was cut off."""
    return Cut() if answer.status is AnswerStatus.PENDING_APPROVAL else cut


def thread_of(agent: str, said: Sequence[tuple[str, str]]) -> str:
    """The same words give the same fingerprint, however a client treats their spaces."""
    words = [agent, *([role, " ".join(text.split())] for role, text in said)]
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()


async def _from_agent(started: "StartedTurn", wanted: Wanted) -> AsyncGenerator[AnswerStep]:
    """What it does as it does it. Its answer comes whole: it was looked through before anybody reads it."""
    async for event in follow(started):
        match event:
            case CallStarted(tool=tool):
                yield AnswerProgress(f"Calling {tool}.")
            case Progress(text=text):
                yield AnswerProgress(text)
            case TurnFinished(answer=answer):
                cut = _cut_of(answer, wanted.cut)
                text = cut(answer.answer)
                if text:
                    yield AnswerWords(text)
                tokens = await asyncio.to_thread(_counted, started.tokens, wanted.asked.messages, text)
                yield Written(text, finish=cut.finish(answer.answer), tokens=tokens)
            case None:
                yield None
            case _:
                continue


def _counted(tokens: tuple[int, int], messages: Sequence[SaidMessage], text: str) -> tuple[int, int]:
    """What a model counted; where none did, about what one would have."""
    if any(tokens):
        return tokens
    return sum(count(each.text) for each in messages), count(text)


# --- the model itself ---


async def _from_model(platform: Platform, wanted: Wanted, who: Speaker) -> AsyncGenerator[AnswerStep]:
    """Ends without a step where the request is not for the tools that were brought, but for the agent."""
    models = await platform.agents.models()
    _require_able(wanted.asked, offline=models.offline)
    asked = wanted.asked
    if wanted.offers_tools:
        asked = await _beside_our_own(platform, asked) if models.offline else with_handover(asked)
    from steward.models import direct  # noqa: PLC0415 - Pydantic AI, loaded by now in a thread

    held = models.offline or asked.form is not None  # nobody reads a form before it is known to fit
    spoken = False
    try:
        written_along = direct.write_along if wanted.stream else direct.write_at_once
        steps = written_along(models.model(), asked, offline=models.offline)
        async with asyncio.timeout(platform.settings.run_seconds), aclosing(steps):
            async for step in steps:
                if isinstance(step, Written):
                    if wanted.offers_tools and for_the_agent(step, wanted.asked):
                        break
                    written = await asyncio.to_thread(_checked, step, wanted, offline=models.offline)
                    if held and written.text:
                        yield AnswerWords(written.text)
                    yield written
                elif not held:
                    spoken = True
                    yield AnswerWords(step)
            else:
                return
    except TimeoutError as error:
        raise ModelError(
            "The model took too long.", code=ErrorCode.MODEL_TIMEOUT, fix="Ask for less, or again."
        ) from error
    if spoken:  # its words are out already: the agent's follow them
        async for each in _from_agent(await _turn(platform, wanted, who), wanted):
            yield each


def _require_able(asked: PlainAsk, *, offline: bool) -> None:
    if offline and any(each.images for each in asked.messages):
        raise UnservedParameterError("messages", "The planner reads no pictures.", fix=NEEDS_MODEL)
    if offline and any(len(each.text) > LONGEST for each in asked.messages):
        raise UnservedParameterError(
            "messages", f"The planner reads at most {LONGEST:,} characters of a message.", fix=NEEDS_MODEL
        )
    if offline and asked.form is not None and asked.form.schema is None:
        raise UnservedParameterError(
            "response_format", "The planner writes no JSON of its own.", fix=NEEDS_MODEL
        )


async def _beside_our_own(platform: Platform, asked: PlainAsk) -> PlainAsk:
    """The planner chooses among all that could be meant, so that what is the agent's goes to the agent."""
    words = asked.messages[-1].text
    specs = [tool.spec for tool in platform.orchestrator.registry if tool.available and tool.spec.listed]
    found = await asyncio.to_thread(platform.ranker.rank, words, specs, limit=MOST_OF_OURS)
    return beside(asked, [hit.tool for hit in found])


def _checked(written: Written, wanted: Wanted, *, offline: bool) -> Written:
    asked = wanted.asked
    if asked.choice not in ("auto", "none") and not written.calls:
        raise UnservedParameterError(
            "tool_choice", f"No tool could be called: {written.text[:300]}", fix="Say what is missing."
        )
    if asked.form is not None and not written.calls and not asked.form.fits(written.text):
        if offline:
            raise UnservedParameterError(
                "response_format", f"The planner cannot fill this form: {written.text[:300]}", fix=NEEDS_MODEL
            )
        raise ModelError(
            "The model's answer does not fit the form.", code=ErrorCode.MODEL_ANSWER_INVALID, fix="Ask again."
        )
    text = wanted.cut(written.text) if offline and asked.form is None else written.text
    tokens = _counted(
        written.tokens, asked.messages, text + "".join(call.arguments for call in written.calls)
    )
    return Written(text, written.calls, written.finish, tokens)
