"""A turn on a language model: the real wire to a scripted one, a real database, real tools."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent, DeferredToolRequests, RunContext
from tests.support.door import tool
from tests.support.model_stage import ANA, Stage, staged, statuses
from tests.support.otlp_collector import Collector
from tests.support.scripted_model import QUOTA, CallTools, Hang, Say
from tests.support.waiting import until

from steward.agents.guards.base import Lenient
from steward.agents.profile import Draft, Refusal, TurnView
from steward.agents.session import AgentSession
from steward.agents.turn import recall
from steward.contract.errors import StewardError
from steward.conversations.model import (
    AnswerStatus,
    CallStatus,
    Progress,
)
from steward.models.runs import RunLimits
from steward.storage.database.postgres import Database
from steward.telemetry.tracing import Tracing


@pytest.fixture
async def stage(database: Database) -> AsyncIterator[Stage]:
    async with staged(database) as stage:
        yield stage


async def test_the_model_is_told_what_was_said_and_done_before(stage: Stage) -> None:
    first = await stage.say("note milk", CallTools(("note", {"title": "milk"})), Say("Noted milk."))
    await stage.say("and now?", Say("Nothing more."))
    said = [(each["role"], each.get("content")) for each in stage.shown()]
    assert (first.status, first.answer, statuses(first)) == (
        AnswerStatus.DONE,
        "Noted milk.",
        [("note", CallStatus.DONE)],
    )
    told = [each for each in said if each[0] != "system"]
    assert said[0] == ("system", "Keep things.")
    assert [role for role, _ in told] == ["user", "assistant", "tool", "assistant", "user"]
    assert (told[0][1], told[3][1], told[4][1]) == ("note milk", "Noted milk.", "and now?")


async def test_a_yes_runs_the_call_and_the_model_reads_its_result(stage: Stage) -> None:
    asked = await stage.say("burn the letter", CallTools(("burn", {"title": "letter"})))
    before = list(stage.burned)
    answer = await stage.say("yes", Say("It is burned."))
    assert (asked.status, before, stage.burned) == (AnswerStatus.PENDING_APPROVAL, [], ["letter"])
    assert asked.answer.startswith(
        'Are you sure you want me to run `burn`?\n\n```\n│ burn\n│   title = "letter"\n'
    )
    assert (answer.answer, statuses(answer)) == ("It is burned.", [("burn", CallStatus.DONE)])
    assert (stage.shown()[-1]["role"], "burned" in stage.shown()[-1]["content"]) == ("tool", True)


async def test_several_calls_are_confirmed_one_by_one(stage: Stage) -> None:
    calls = CallTools(*(("burn", {"title": title}) for title in ("one", "two", "three")))
    first = await stage.say("burn all", calls)
    second = await stage.say("yes", Say("unused"))
    third = await stage.say("no", Say("unused"))
    burned = list(stage.burned)
    last = await stage.say("yes", Say("Two are burned."))
    assert ["one" in first.answer, "two" in second.answer, "three" in third.answer] == [True, True, True]
    assert [each.status for each in (first, second, third)] == [AnswerStatus.PENDING_APPROVAL] * 3
    assert (burned, stage.burned, last.answer) == (["one"], ["one", "three"], "Two are burned.")
    results = [each["content"] for each in stage.shown() if each["role"] == "tool"]
    assert ["burned" in result for result in results] == [True, False, True]


async def test_a_proposal_that_cannot_be_approved_any_more_says_so_and_stays(stage: Stage) -> None:
    await stage.say("burn the letter", CallTools(("burn", {"title": "letter"})))
    registered = stage.door.orchestrator.registry.get("burn")
    object.__setattr__(registered.spec, "description", "Something else.")
    registered.spec.__dict__.pop("definition_hash", None)
    failed = await stage.say("yes", Say("unused"))
    again = await stage.say("no", Say("unused"))
    assert (failed.status, stage.burned) == (AnswerStatus.FAILED, [])
    assert (again.status, again.tool_calls[0].error_code) == (AnswerStatus.DONE, "PROPOSAL_REJECTED")


async def test_a_failed_call_is_told_to_the_model_and_recorded(stage: Stage) -> None:
    answer = await stage.say("try", CallTools(("fail", {"title": "x"})), Say("It did not work."))
    assert (answer.status, statuses(answer), answer.tool_calls[0].error_code) == (
        AnswerStatus.FAILED,
        [("fail", CallStatus.FAILED)],
        "SHELF_EMPTY",
    )


async def test_what_was_done_before_the_model_failed_is_said(stage: Stage) -> None:
    broken = await stage.say("note milk", CallTools(("note", {"title": "milk"})), QUOTA)
    next_one = await stage.say("go on", Say("Going on."))
    assert (broken.status, statuses(broken)) == (AnswerStatus.FAILED, [("note", CallStatus.DONE)])
    assert broken.answer.startswith("This was done: `note`.")
    assert "quota" in broken.answer
    assert (next_one.answer, stage.shown()[-1]["content"]) == ("Going on.", "go on")


async def test_a_yes_that_ran_counts_even_if_the_model_fails_after_it(stage: Stage) -> None:
    await stage.say("burn the letter", CallTools(("burn", {"title": "letter"})))
    answer = await stage.say("yes", QUOTA)
    after = await stage.say("yes", Say("There is nothing to agree to."))
    assert (answer.status, statuses(answer), stage.burned) == (
        AnswerStatus.FAILED,
        [("burn", CallStatus.DONE)],
        ["letter"],
    )
    assert after.tool_calls == ()


async def test_a_run_ends_at_its_limits(database: Database) -> None:
    async with staged(database, limits=RunLimits(steps=3)) as stage:
        answer = await stage.say("loop", CallTools(("note", {"title": "again"})))
    assert (answer.status, len(answer.tool_calls) <= 3) == (AnswerStatus.FAILED, True)


async def test_an_agent_of_its_own_making_has_its_tools_beside_those_behind_the_door(stage: Stage) -> None:
    def make() -> Agent[AgentSession, Any]:
        agent = Agent[AgentSession, Any](output_type=[str, DeferredToolRequests], deps_type=AgentSession)

        @agent.tool
        def whisper(context: RunContext[AgentSession], word: str) -> str:
            return f"{context.deps.user} hears {word} of {context.deps.correlation_id}"

        return agent

    made = replace(
        stage.profile(), make_agent=make, equip=lambda session: replace(session, correlation_id="equipped")
    )
    script = (CallTools(("whisper", {"word": "tea"}), ("note", {"title": "milk"})), Say("Both done."))
    answer = await stage.say("whisper and note", *script, chat=stage.chat(made))
    heard = [each["content"] for each in stage.model.requests[-1]["messages"] if each["role"] == "tool"]
    assert (answer.answer, statuses(answer)) == ("Both done.", [("note", CallStatus.DONE)])
    assert heard[0] == "ana hears tea of equipped"


class Strict(Lenient):
    """Nothing named 'x' may be noted, lies are corrected, and burning is asked about in its own words."""

    def admit(self, spec: Any, arguments: Mapping[str, Any], **_: Any) -> Refusal | None:
        return Refusal("NOT_X", "Never x. Choose another.") if arguments.get("title") == "x" else None

    def review(self, draft: Draft, **_: Any) -> Draft:
        return replace(draft, text="Nothing was done.") if "lie" in draft.text else draft

    def confirm(self, spec: Any, arguments: Mapping[str, Any], **_: Any) -> str | None:
        return f"Really burn {arguments['title']}?"


class Broken(Lenient):
    def admit(self, *_: Any, **__: Any) -> Refusal | None:
        raise RuntimeError("oh")

    def review(self, draft: Draft, **_: Any) -> Draft:
        raise RuntimeError("oh")

    def confirm(self, *_: Any, **__: Any) -> str | None:
        raise RuntimeError("oh")


async def test_rules_stand_before_the_door_and_after_the_model(database: Database) -> None:
    async with staged(database, rules=(Strict(),)) as stage:
        refused = await stage.say("note x", CallTools(("note", {"title": "x"})), Say("A lie."))
        asked = await stage.say("burn it", CallTools(("burn", {"title": "it"})))
        stage.here = None
        await stage.say("hello", Say("Hello."))
    assert (refused.answer, statuses(refused)) == ("Nothing was done.", [("note", CallStatus.REFUSED)])
    assert refused.tool_calls[0].error_code == "NOT_X"
    assert [each.call.tool for each in stage.door.log.executions] == ["burn"]
    assert asked.answer.startswith("Really burn it?\n\n```\n│ burn\n")


async def test_what_the_person_read_is_what_the_model_reads_later(database: Database) -> None:
    async with staged(database, rules=(Strict(),)) as stage:
        await stage.say("do it", Say("A lie."))
        await stage.say("and now?", Say("Hm."))
        said = [each.get("content") for each in stage.shown()]
    assert ("A lie." in said, "Nothing was done." in said) == (False, True)


async def test_a_rule_that_breaks_lets_nothing_pass(database: Database) -> None:
    async with staged(database, rules=(Broken(),)) as stage:
        answer = await stage.say("note milk", CallTools(("note", {"title": "milk"})), Say("Done!"))
    assert (answer.status, statuses(answer), stage.door.log.executions) == (
        AnswerStatus.FAILED,
        [("note", CallStatus.REFUSED)],
        [],
    )
    assert "Done!" not in answer.answer


@dataclass
class Polite:
    """Answers greetings itself, and signs what the model says."""

    async def before(self, turn: TurnView) -> Draft | None:
        await turn.tell(Progress("listening"))
        if turn.text == "break":
            raise StewardError("It broke.")
        return Draft(text="Hello yourself.", confidence=1.0) if turn.text == "hello" else None

    async def after(self, turn: TurnView, draft: Draft) -> Draft:
        if "break" in turn.text:
            raise StewardError("It broke.")
        return replace(draft, text=f"{draft.text} Yours, K.")


async def test_an_agents_own_conduct_stands_around_the_model(database: Database) -> None:
    async with staged(database, conduct=Polite()) as stage:
        greeted = await stage.say("hello")
        requests = len(stage.model.requests)
        signed = await stage.say("what else", Say("Nothing."))
        broken = await stage.say("break")
        kept = await stage.say("break later", Say("Kept."))
        said = [each.get("content") for each in stage.shown()]
    assert (greeted.answer, requests, signed.answer) == ("Hello yourself.", 0, "Nothing. Yours, K.")
    assert (broken.status, broken.answer, kept.answer) == (AnswerStatus.FAILED, "It broke.", "Kept.")
    assert ("Hello yourself." in said, Progress("listening") in stage.events) == (True, True)


async def test_a_question_of_the_model_is_a_question(stage: Stage) -> None:
    answer = await stage.say("burn it", Say("Which letter do you mean?"))
    assert answer.status is AnswerStatus.QUESTION


@pytest.mark.req("SKL-SC-005")
async def test_a_tool_that_needs_the_person_asks_here_and_the_next_turn_answers(stage: Stage) -> None:
    asks = CallTools(("request_human_input", {"question": "Which town?", "choices": ["Rome", "Oslo"]}))
    asked = await stage.say("book it", asks, Say("I asked."))
    waiting = await stage.questions.waiting()
    answer = await stage.say("Rome", Say("Rome it is."))
    assert (asked.status, asked.answer) == (AnswerStatus.QUESTION, "Which town?\n1. Rome\n2. Oslo")
    assert (len(waiting), await stage.questions.waiting(), answer.answer) == (1, [], "Rome it is.")


async def test_garbage_and_silence_become_plain_words(stage: Stage) -> None:
    answer = await stage.say("hm", Say("   "))
    assert answer.answer.strip() != ""
    assert answer.tool_calls == ()


async def test_a_long_conversation_is_cut_and_what_waits_survives(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall, "LONGEST", 6_000)
    monkeypatch.setattr(recall, "CUT_TO", 3_000)
    for number in range(12):
        await stage.say(f"say {number} " + "word " * 100, Say(f"answer {number} " + "word " * 100))
    await stage.say("burn the letter", CallTools(("burn", {"title": "letter"})))
    kept = await stage.store.load(stage.here or "", user="ana")
    answer = await stage.say("yes", Say("Burned."))
    sent = stage.shown()
    assert (len(kept.history) < 12_000, len(kept.turns), stage.burned) == (True, 13, ["letter"])
    assert any("Earlier in this conversation" in str(each.get("content")) for each in sent)
    assert answer.answer == "Burned."


async def test_agents_that_ask_each_other_in_circles_are_told_so(stage: Stage) -> None:
    chat = stage.chat()

    async def ask(request: str) -> Any:
        """Ask the other one."""
        return (await chat.consult("other", request, user="ana", asked_by=ANA.caller)).answer

    schema = {"type": "object", "properties": {"request": {"type": "string"}}, "required": ["request"]}
    await stage.door.with_tools(tool(ask, name="ask_other", input_schema=schema), agent="agents")
    stage.model.script[:] = [CallTools(("ask_other", {"request": "hi"})), Say("I asked."), Say("We talked.")]
    answer = await stage.say(
        "ask around",
        CallTools(("ask_other", {"request": "hi"})),
        CallTools(("ask_other", {"request": "hi again"})),
        Say("It is busy."),
        Say("We talked."),
        chat=chat,
    )
    assert answer.answer == "We talked."
    codes = [each.result for each in stage.door.log.executions if each.call.tool == "ask_other"]
    assert [getattr(result, "code", None) for result in codes] == ["FORBIDDEN", None]


@pytest.mark.req("RES-FR-031")
async def test_a_run_leaves_its_span_with_its_calls_under_it(
    database: Database, collector: Collector, tmp_path: Path
) -> None:
    tracing = Tracing(collector.endpoint, folder=tmp_path, export_delay=0.05)
    async with staged(database, tracer=tracing) as stage:
        await stage.say("note milk", CallTools(("note", {"title": "milk"})), Say("Noted."))
        tracing.flush()
        spans = collector.spans(3)
        tracing.shutdown()
    run, call = spans["agent_run"], spans["mcp_tool_call:note"]
    assert {name: run.attributes[name] for name in run.attributes if name != "correlation_id"} == {
        "task_description": "note milk",
        "agent": "keeper",
        "user": "ana",
        "result_type": "done",
        "confidence_score": 1.0,
        "tool_calls_count": 1,
        "gen_ai.agent.name": "keeper",
        "gen_ai.conversation.id": stage.here,
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "steward",
    }
    assert call.trace_id == run.trace_id


async def test_a_turn_that_cannot_be_stored_is_answered_with_that(stage: Stage, database: Database) -> None:
    await stage.say("note milk", Say("Hm."))
    stage.model.script[:] = [Hang()]
    started = await stage.chat().begin("and now", speaker=ANA, conversation=stage.here)
    running = asyncio.create_task(started.run())
    await until(stage.model.hanging.is_set)
    await database.execute("ALTER TABLE conversation_turns RENAME TO gone")
    started.stop()
    answer = await running
    await database.execute("ALTER TABLE gone RENAME TO conversation_turns")
    assert "could not be stored" in answer.answer
