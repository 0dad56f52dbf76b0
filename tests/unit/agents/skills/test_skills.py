"""Skills: folders that are read, found by meaning, opened through the door, and kept to their tools."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import DeferredToolRequests
from tests.support.door import Door, tool
from tests.support.library import embedder
from tests.support.planner_talk import Talk

from steward.agents.profile import Draft
from steward.agents.session import AgentSession
from steward.agents.skills.book import SHIPPED, Skill, SkillBook, parse
from steward.agents.skills.procedure import SKILLS, SkillProcedure
from steward.agents.skills.skill_bounds import SkillBounds
from steward.agents.skills.tools import opened, skills_agent
from steward.agents.turn.ledger import Ledger
from steward.agents.turn.toolset import ToolOffer
from steward.contract.call import Done, Failed
from steward.contract.errors import InputError
from steward.contract.tool import Effect, Origin, RiskLevel, ToolSpec
from steward.conversations.model import CallRecord, CallStatus
from steward.models.planner.model import PlannerModel

GREETING = """---
name: greeting
description: Greet a guest properly.
allowed-tools: send_card, list_guests
examples: [Say hello to our guest]
run: greet {guest} {folder}
parameters:
  guest: Who to greet
---
# Greeting

Be warm.
"""


def home(tmp_path: Path, **skills: str) -> Path:
    for name, text in skills.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_folder_with_a_skill_md_is_a_skill(tmp_path: Path) -> None:
    folder = home(tmp_path, greeting=GREETING)
    (folder / "greeting" / "card.txt").write_text("Hello")
    assert SkillBook([folder]).skills() == (
        Skill(
            name="greeting",
            description="Greet a guest properly.",
            instructions="# Greeting\n\nBe warm.",
            folder=folder / "greeting",
            allowed_tools=("send_card", "list_guests"),
            examples=("Say hello to our guest",),
            files=("card.txt",),
            run="greet {guest} {folder}",
            parameters={
                "type": "object",
                "properties": {"guest": {"type": "string", "description": "Who to greet"}},
                "required": ["guest"],
            },
        ),
    )


@pytest.mark.parametrize(
    "text",
    [
        "no front matter",
        "---\nname: [\n---\n",
        "---\njust text\n---\n",
        "---\nname: x\n---\nno description",
        "---\nname: Not A Name\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\nrun: go {where}\n---\n",
        "---\nname: x\ndescription: d\nrun: 7\n---\n",
    ],
)
def test_a_skill_that_cannot_be_read_says_why_and_leaves_the_others_usable(tmp_path: Path, text: str) -> None:
    book = SkillBook([home(tmp_path, greeting=GREETING, broken=text)])
    assert [skill.name for skill in book.skills()] == ["greeting"]
    assert [each.folder.name for each in book.unusable()] == ["broken"]
    with pytest.raises(InputError):
        parse(text, tmp_path / "broken")


def test_a_home_has_the_last_word_and_a_changed_skill_is_read_again(tmp_path: Path) -> None:
    text = "---\nname: weekly-review\ndescription: Mine.\n---\nAsk me.\n"
    folder = home(tmp_path, **{"weekly-review": text})
    book = SkillBook([SHIPPED, folder])
    before = book.get("weekly-review").description
    (folder / "weekly-review" / "SKILL.md").write_text(text.replace("Mine", "Changed"))
    (folder / "weekly-review" / "SKILL.md").touch()

    os.utime(folder / "weekly-review" / "SKILL.md", (1, 1))
    assert (before, book.get("weekly-review").description) == ("Mine.", "Changed.")


def test_there_is_no_such_skill_names_those_there_are() -> None:
    with pytest.raises(InputError) as caught:
        SkillBook([SHIPPED]).get("juggling")
    assert caught.value.code == "NOT_FOUND"


@pytest.mark.parametrize(
    ("request_", "skill"),
    [
        ("What is 45 + 98?", None),
        ("Give me a summary of expenses.csv", "csv-summary"),
        ("Help me review how my week went", "weekly-review"),
        ("Which wine goes with fish?", None),
        ("Add milk to my tasks", None),
    ],
)
def test_a_skill_is_found_by_what_is_meant(request_: str, skill: str | None) -> None:
    found = SkillBook([SHIPPED], embedder=embedder()).find(request_)
    assert (found[0].skill.name if found else None) == skill


def test_without_an_embedder_words_find_a_skill() -> None:
    book = SkillBook([SHIPPED])
    assert [each.skill.name for each in book.find("summarise a CSV file")] == ["csv-summary"]
    assert (book.find("  "), SkillBook([]).find("anything")) == ([], [])


async def test_skills_are_found_and_opened_through_the_door() -> None:
    book = SkillBook([SHIPPED], embedder=embedder())
    door = Door()
    door.orchestrator.register_agent(skills_agent(book))
    await door.orchestrator.lifecycle.start_all()
    found = await door.call("find_skills", query="summarise a CSV file")
    used = await door.call("use_skill", name="csv-summary")
    missing = await door.call("use_skill", name="nothing")
    assert isinstance(found, Done)
    assert found.data["items"][0]["name"] == "csv-summary"
    assert isinstance(used, Done)
    assert used.data == opened(book.get("csv-summary"))
    assert isinstance(missing, Failed)
    assert missing.code == "NOT_FOUND"


# --- the planner ---


async def house(tmp_path: Path) -> tuple[Door, list[dict[str, Any]], PlannerModel]:
    ran: list[dict[str, Any]] = []

    def code_execution(code: str, language: str = "python") -> dict[str, Any]:
        """Run Python or shell code."""
        ran.append({"code": code, "language": language})
        done = subprocess.run(
            ["sh", "-c", code.replace("python3", sys.executable)], capture_output=True, text=True, check=False
        )
        return {"exit_code": done.returncode, "stdout": done.stdout, "stderr": done.stderr}

    text = {"type": "string"}
    schema = {"type": "object", "properties": {"code": text, "language": text}, "required": ["code"]}
    book = SkillBook([SHIPPED], embedder=embedder())
    door = Door()
    door.orchestrator.register_agent(skills_agent(book))
    await door.with_tools(tool(code_execution, input_schema=schema, origin=Origin.LOCAL))
    model = PlannerModel(embedder=embedder(), procedures={SKILLS: SkillProcedure(book, (tmp_path,))})
    return door, ran, model


async def test_the_planner_runs_a_skill_that_says_how_it_is_run(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("city,amount\nOslo,10\nBergen,30\n")
    door, ran, model = await house(tmp_path)
    talk = Talk(door, model=model, offer=ToolOffer(procedures=(SKILLS,)))
    said = await talk.agree(await talk.say("Summarise the CSV file sales.csv"))
    assert [each.call.tool for each in door.log.executions] == [
        "use_skill",
        "code_execution",
        "code_execution",
    ]
    assert str(tmp_path / "sales.csv") in ran[0]["code"]
    assert said == (
        "sales.csv: 2 rows, 2 columns\n- city: 2 different values, most common: Oslo (1), Bergen (1)\n"
        "- amount: numbers, min 10, mean 20, max 30, sum 40"
    )


async def test_a_parameter_that_was_not_said_is_asked_for_and_its_answer_completes_it(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("city\nOslo\n")
    door, ran, model = await house(tmp_path)
    talk = Talk(door, model=model, offer=ToolOffer(procedures=(SKILLS,)))
    asked = await talk.say("Summarise this CSV file")
    answer = await talk.agree(await talk.say("sales.csv"))
    assert (asked.startswith("Which path"), len(ran), answer.startswith("sales.csv: 1 rows")) == (
        True,
        1,
        True,
    )


async def test_words_in_a_parameter_do_not_become_a_command(tmp_path: Path) -> None:
    door, ran, model = await house(tmp_path)
    talk = Talk(door, model=model, offer=ToolOffer(procedures=(SKILLS,)))
    waits = await talk.say(f'Summarise the CSV file "x.csv; touch {tmp_path}/hacked"')
    await talk.agree(waits)
    assert (len(ran), (tmp_path / "hacked").exists()) == (1, False)


async def test_a_run_that_needs_a_yes_waits_for_it(tmp_path: Path) -> None:
    def code_execution(code: str, language: str = "python") -> str:
        """Run code."""
        return pytest.fail("nobody agreed")

    book = SkillBook([SHIPPED], embedder=embedder())
    door = Door()
    door.orchestrator.register_agent(skills_agent(book))
    await door.with_tools(tool(code_execution, risk=RiskLevel.IRREVERSIBLE, effect=Effect.WRITES_OUTSIDE))
    model = PlannerModel(embedder=embedder(), procedures={SKILLS: SkillProcedure(book)})
    waits = await Talk(door, model=model, offer=ToolOffer(procedures=(SKILLS,))).say(
        "Summarise the CSV file x.csv"
    )
    assert isinstance(waits, DeferredToolRequests)


# --- the rule ---


def ledger(**skill: Any) -> Ledger:
    data = {"name": "greeting", "allowed_tools": ["send_card"], **skill}
    return Ledger(calls=[CallRecord(tool="use_skill", arguments={}, status=CallStatus.DONE, data=data)])


@pytest.mark.parametrize(
    ("name", "account", "refused"),
    [
        ("send_card", ledger(), False),
        ("request_human_input", ledger(), False),
        ("delete_guest", ledger(), True),
        ("delete_guest", ledger(allowed_tools=[]), False),
        ("delete_guest", Ledger(), False),
    ],
)
def test_a_skill_is_kept_to_the_tools_it_names(name: str, account: Ledger, refused: bool) -> None:
    rule, spec, session = (
        SkillBounds(),
        ToolSpec(name=name, description="", origin=Origin.LOCAL),
        AgentSession(agent="a"),
    )
    refusal = rule.admit(spec, {}, ledger=account, session=session)
    assert (refusal is not None and refusal.code == "SKILL_FORBIDS_TOOL") is refused
    draft = Draft(text="x")
    assert rule.review(draft, ledger=account, session=session) == draft
    assert rule.confirm(spec, {}, ledger=account) is None


def test_a_skill_that_breaks_later_keeps_its_last_good_text_and_says_what_is_wrong(tmp_path: Path) -> None:
    folder = home(tmp_path, greeting=GREETING)
    book = SkillBook([folder])
    good = book.skills()
    file = folder / "greeting" / "SKILL.md"
    for text in ("---\nname: [\n---\n", "---\nname: " + "[" * 5_000 + "\n---\n"):
        file.write_text(text)
        os.utime(file, (time.time() + len(text),) * 2)
        assert (book.skills(), len(book.unusable())) == (good, 1)
    file.write_text(GREETING)
    os.utime(file, (1, 1))
    assert (book.skills(), book.unusable()) == (good, ())
