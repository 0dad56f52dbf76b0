"""The assistant: direct answers, the web when needed, code with a yes, a person when something is missing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.scripted_model import CallTools, Say, ScriptedModel
from tests.support.talking import TalkSetup, tools
from tests.support.websites import Web

from steward.contract.tool import ToolSpec
from steward.conversations.model import AnswerStatus
from steward.providers.functions import FunctionTool, LegacyToolAgent

THINGS = (
    *("order", "invoice", "customer", "product", "supplier", "parcel", "coupon", "review", "refund", "price"),
    *("category", "warehouse", "shelf", "label", "carrier", "tax", "currency", "banner", "newsletter", "fee"),
)


@pytest.mark.req("SKL-US2.1")
async def test_a_skill_holds_a_model_to_its_tools_over_every_yes(
    wired: TalkSetup, model: ScriptedModel
) -> None:
    model.answer(
        CallTools(("use_skill", {"name": "csv-summary"})),
        CallTools(("code_execution", {"code": "print(1)"})),
        CallTools(("code_execution", {"code": "print(2)"})),
        CallTools(("web_search", {"query": "sales"})),
        Say("Done."),
    )
    said = "Summarise this CSV file: sales.csv"
    first = await wired.ask(said, "assistant")
    second = await wired.ask("yes", "assistant", conversation=first.conversation)
    last = await wired.ask("yes", "assistant", conversation=first.conversation)
    proposals = (await wired.platform.orchestrator.approvals.list()).items
    assert {proposal.utterance for proposal in proposals} == {said}
    assert (second.status, [call.error_code for call in last.tool_calls]) == (
        AnswerStatus.PENDING_APPROVAL,
        [None, "SKILL_FORBIDS_TOOL"],
    )


@pytest.mark.req("SKL-US1.1", "SKL-FR-007")
async def test_the_weather_is_looked_up(house: TalkSetup, web: Web) -> None:
    found = await house.ask("What's the weather in Seoul today?", "assistant")
    assert (tools(found), web.url("/weather/seoul") in found.answer) == (["web_search"], True)


@pytest.mark.req("SKL-US1-IT")
async def test_a_recent_event_is_looked_up_and_answered_from_what_was_found(
    house: TalkSetup, web: Web
) -> None:
    found = await house.ask("What is the latest news about the Brennan Tower?", "assistant")
    assert "web_search" in tools(found)
    assert ("evacuated" in found.answer, len(web.searched)) == (True, 1)


@pytest.mark.req("SKL-US1-IT")
async def test_a_model_answers_a_recent_event_from_what_the_search_returned(
    wired: TalkSetup, web: Web, model: ScriptedModel
) -> None:
    model.answer(
        CallTools(("web_search", {"query": "latest news Brennan Tower"})),
        lambda request: Say(
            "It was evacuated." if "evacuated" in request["messages"][-1]["content"] else "Nothing."
        ),
    )
    found = await wired.ask("What happened at the Brennan Tower yesterday?", "assistant")
    assert (tools(found)[-1], found.answer) == ("web_search", "It was evacuated.")


@pytest.mark.req("SKL-US1.1")
async def test_a_model_looks_the_weather_up(wired: TalkSetup, model: ScriptedModel) -> None:
    model.answer(CallTools(("web_search", {"query": "weather Seoul today"})), Say("Sunny, 12 degrees."))
    found = await wired.ask("What's the weather in Seoul today?", "assistant")
    assert (tools(found), found.answer) == (["web_search"], "Sunny, 12 degrees.")


async def with_many_tools(house: TalkSetup) -> None:
    """Somebody connected servers with more tools than a model is shown."""
    things = [f"{kind} {thing}" for kind in ("list", "create", "update", "delete") for thing in THINGS]
    brought = [
        ToolSpec(name=f"shop__{'_'.join(name.split())}", description=f"{name.capitalize()}s of the shop.")
        for name in things
    ]
    shop = LegacyToolAgent("shop", [FunctionTool(spec, lambda: None) for spec in brought])
    house.platform.orchestrator.register_agent_factory("shop", lambda: shop)
    await house.platform.orchestrator.lifecycle.start("shop")


@pytest.mark.req("SKL-FR-007", "SKL-SC-005")
async def test_a_model_keeps_its_basic_tools_among_many_others(
    wired: TalkSetup, model: ScriptedModel
) -> None:
    await with_many_tools(wired)
    model.answer(Say("There are none."))
    await wired.ask("Show the orders of the shop", "assistant")
    offered = {each["function"]["name"] for each in model.requests[0]["tools"]}
    assert {"code_execution", "web_search", "request_human_input", "use_skill", "shop__list_order"} <= offered
    assert len(offered) < 4 * len(THINGS)
    assert any("tokens saved" in line for line in wired.progress)


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Create an event: lunch with Sara on Friday at noon", "calendar__create_event"),
        ("List open issues of acme/web", "github__list_issues"),
        ("Create a task to list open issues", None),
        ("Add a task to create an event for Sara", None),
    ],
)
@pytest.mark.req("SKL-FR-004")
async def test_a_tool_that_is_called_by_its_name_goes_before_the_task_list(
    house: TalkSetup, said: str, asked: str | None
) -> None:
    brought = [
        ToolSpec(name="calendar__create_event", description="Create an event with a title and a start."),
        ToolSpec(name="github__list_issues", description="List issues in a repository."),
    ]
    calendar = LegacyToolAgent("brought", [FunctionTool(spec, lambda: None) for spec in brought])
    house.platform.orchestrator.register_agent_factory("brought", lambda: calendar)
    await house.platform.orchestrator.lifecycle.start("brought")
    found = await house.ask(said, "assistant")
    assert tools(found) == [asked or "add_task"]


@pytest.mark.req("SKL-US1.2")
async def test_general_knowledge_needs_no_search(house: TalkSetup) -> None:
    found = await house.ask("What is the capital of France?", "assistant")
    looked_into = ["search_memory", "query_knowledge_base"]  # one's own; the web is not searched
    assert (found.status, tools(found)) == (AnswerStatus.DONE, looked_into)
    assert "search the web" in found.answer  # the planner knows no facts, and says so


@pytest.mark.req("SKL-US1.2")
async def test_a_model_answers_general_knowledge_directly(wired: TalkSetup, model: ScriptedModel) -> None:
    model.answer(Say("The capital of France is Paris."))
    found = await wired.ask("What is the capital of France?", "assistant")
    told = json.dumps(model.requests[0]["messages"])
    assert (tools(found), found.answer) == ([], "The capital of France is Paris.")
    assert "Use web_search only for what changes" in told


@pytest.mark.req("SKL-US2.1", "SKL-FR-007")
async def test_a_csv_file_is_summarised_by_a_script_once_a_person_agrees(
    house: TalkSetup, tmp_path: Path
) -> None:
    (tmp_path / "sales.csv").write_text("city,amount\nOslo,10\nBergen,30\n")
    waits = await house.ask("Summarise this CSV file: sales.csv", "assistant")
    # Whether the library holds such a document is looked up first.
    assert (waits.status, tools(waits)[-2:]) == (
        AnswerStatus.PENDING_APPROVAL,
        ["use_skill", "code_execution"],
    )
    done = await house.ask("yes", "assistant", conversation=waits.conversation)
    assert (done.status, "2 rows, 2 columns" in done.answer, "mean 20" in done.answer) == (
        AnswerStatus.DONE,
        True,
        True,
    )


@pytest.mark.req("SKL-US2.1")
async def test_a_model_is_told_of_a_skill_that_fits_and_kept_to_its_tools(
    wired: TalkSetup, model: ScriptedModel, tmp_path: Path
) -> None:
    (tmp_path / "sales.csv").write_text("city,amount\nOslo,10\n")
    program = "import csv; print(sum(int(r['amount']) for r in csv.DictReader(open('../../sales.csv'))))"
    model.answer(
        CallTools(("use_skill", {"name": "csv-summary"})),
        CallTools(("web_search", {"query": "sales"})),
        CallTools(("code_execution", {"code": program})),
        Say("The amounts add up to 10."),
    )
    waits = await wired.ask("Summarise this CSV file: sales.csv", "assistant")
    told = json.dumps(model.requests[0]["messages"])
    assert "csv-summary: Summarise a CSV file" in told
    assert [(call.tool, call.error_code) for call in waits.tool_calls] == [
        ("use_skill", None),
        ("web_search", "SKILL_FORBIDS_TOOL"),
        ("code_execution", None),
    ]
    done = await wired.ask("yes", "assistant", conversation=waits.conversation)
    assert done.status is AnswerStatus.DONE


@pytest.mark.req("SKL-US2.2")
async def test_a_program_that_fails_is_reported_with_its_error(house: TalkSetup) -> None:
    waits = await house.ask("Run this Python code: raise ValueError('no such column')", "assistant")
    done = await house.ask("yes", "assistant", conversation=waits.conversation)
    assert ("failed" in done.answer, "no such column" in done.answer) == (True, True)


@pytest.mark.req("SKL-US2.2")
async def test_a_model_hears_of_a_program_that_failed(wired: TalkSetup, model: ScriptedModel) -> None:
    model.answer(
        CallTools(("code_execution", {"code": "raise ValueError('no such column')"})),
        Say("The program failed: no such column."),
    )
    waits = await wired.ask("Work out the sum of the price column", "assistant")
    done = await wired.ask("yes", "assistant", conversation=waits.conversation)
    assert "no such column" in json.dumps(model.requests[-1]["messages"])
    assert done.answer == "The program failed: no such column."


@pytest.mark.req("SKL-SC-005")
async def test_what_is_missing_is_asked_for_by_the_tool_and_the_reply_answers_it(house: TalkSetup) -> None:
    asks = await house.ask("Read a file", "assistant")
    waiting = await house.platform.questions.waiting()
    assert (asks.status, tools(asks)) == (AnswerStatus.QUESTION, ["request_human_input"])
    assert [question.text for question in waiting] == [asks.answer]
    await house.ask("notes.md", "assistant", conversation=asks.conversation)
    assert await house.platform.questions.waiting() == []


@pytest.mark.req("SKL-SC-005")
async def test_a_model_that_lacks_information_asks_the_person_and_goes_on_with_the_answer(
    wired: TalkSetup, model: ScriptedModel
) -> None:
    model.answer(CallTools(("request_human_input", {"question": "Which city?"})), Say("Which city?"))
    asks = await wired.ask("Look up the opening hours of the museum", "assistant")
    assert (asks.status, asks.answer, tools(asks)) == (
        AnswerStatus.QUESTION,
        "Which city?",
        ["request_human_input"],
    )


async def test_a_model_that_says_it_cannot_is_a_gap_with_what_is_missing(
    wired: TalkSetup, model: ScriptedModel
) -> None:
    model.answer(Say("I can't send faxes; I have no tool for that."), Say("Here is a poem."))
    declined = await wired.ask("Fax the contract to the notary", "assistant")
    done = await wired.ask("Write a poem about tea", "assistant")
    assert (declined.status, len(declined.missing_tools)) == (AnswerStatus.GAP, 1)
    assert (done.status, done.answer) == (AnswerStatus.DONE, "Here is a poem.")


async def test_a_skill_for_other_files_is_not_meant(house: TalkSetup, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Tea\nBoil the water.\n")
    found = await house.ask("Summarize the file notes.md", "assistant")
    assert (tools(found)[-1], "Boil the water." in found.answer) == ("read_file", True)


async def test_a_skill_of_the_home_is_used_at_once(house: TalkSetup, tmp_path: Path) -> None:
    folder = tmp_path / "home" / "skills" / "echo-name"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(
        "---\nname: echo-name\ndescription: Greet a guest by name in the hall.\n"
        "examples: [Greet the guest Ana in the hall]\nrun: echo Welcome {guest}\n"
        "parameters:\n  guest: The guest's name\n---\nGreet.\n"
    )
    waits = await house.ask('Greet the guest "Tom" in the hall', "assistant")
    done = await house.ask("yes", "assistant", conversation=waits.conversation)
    assert done.answer == "Welcome Tom"


async def test_what_was_told_is_remembered_and_found_again(house: TalkSetup) -> None:
    asked = await house.ask("My bike lock code is 4711", "assistant")
    kept = await house.ask("yes", "assistant", conversation=asked.conversation)
    found = await house.ask("what is my bike lock code?", "assistant")
    assert (asked.status, asked.answer, kept.answer) == (
        AnswerStatus.QUESTION,
        "Should I remember this: “My bike lock code is 4711”?",
        "I'll remember that: My bike lock code is 4711.",
    )
    assert (tools(found), "4711" in found.answer) == (["search_memory"], True)


async def test_a_program_is_never_made_of_what_happens_to_be_said(house: TalkSetup) -> None:
    found = [await house.ask(said, "assistant") for said in ("what is my garage code?", "are you a human?")]
    called = {tool for answer in found for tool in tools(answer)}
    assert called & {"code_execution", "request_human_input"} == set()


async def test_a_gap_that_shows_late_is_named_and_written_down_as_well(house: TalkSetup) -> None:
    found = await house.ask("send an email to Ana that I am late", "assistant")
    written = [gap.missing for gap in await house.platform.gaps.list("local")]
    assert (found.status, len(found.missing_tools) > 0, written) == (
        AnswerStatus.GAP,
        True,
        list(found.missing_tools),
    )


@pytest.mark.req("TODO-EDGE-05")
async def test_a_task_list_that_is_away_is_no_gap(house: TalkSetup) -> None:
    await house.platform.orchestrator.lifecycle.stop("tasks")
    away = [await house.ask(said, "assistant") for said in ("Add buy milk to my tasks", "Show my tasks")]
    trouble = "I'm having trouble updating your tasks right now. Please try again."
    assert [(answer.status, answer.answer) for answer in away] == [(AnswerStatus.FAILED, trouble)] * 2
    assert await house.platform.gaps.list("local") == []


async def test_another_language_is_no_gap(house: TalkSetup) -> None:
    found = await house.ask("Füge Milch zu meinen Aufgaben hinzu", "assistant")
    assert (found.status, "German" in found.answer, tools(found)) == (AnswerStatus.DONE, True, [])
    assert await house.platform.gaps.list("local") == []


@pytest.mark.req("RES-SC-003", "RES-US2.1")
def test_a_gap_ends_the_command_with_4_and_names_what_is_missing(tmp_path: Path, database_url: str) -> None:
    environment = os.environ | {
        "STEWARD_HOME": str(tmp_path / "home"),
        "DATABASE_URL": database_url,
        "OTEL_EXPORTER_OTLP_ENDPOINT": "none",
    }

    def steward(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "steward", *words, "--json"]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
        )

    done = steward("ask", "--agent", "researcher", "Retrieve my stock portfolio performance for Q3 2024")
    gaps = [item["missing"] for item in json.loads(steward("gaps").stdout)["items"]]
    shape = json.loads(done.stdout)
    assert (done.returncode, shape["status"], shape["missing_tools"], gaps) == (
        4,
        "gap",
        ["financial_data_api"],
        ["financial_data_api"],
    )
