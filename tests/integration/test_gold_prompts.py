"""Sixty and more things people say to the assistant, and what it should reach for, with the planner."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.support.talking import open_house, tools
from tests.support.websites import small_web

from steward.conversations.model import Answer, AnswerStatus

PROMPTS = [
    json.loads(line) for line in (Path(__file__).parent / "gold_prompts.jsonl").read_text().splitlines()
]
AT_LEAST = 0.9
HELPERS = {"list_tasks", "use_skill"}  # called on the way to what is meant
OWN = {"search_memory", "query_knowledge_base"}  # looked into first where somebody asks to know (`looks`)


def is_right(row: dict[str, Any], answer: Answer) -> bool:
    called = [
        each for each in tools(answer) if not (row.get("looks") and each in OWN - set(row.get("tools", ())))
    ]
    if row.get("gap"):
        return (answer.status, called) == (AnswerStatus.GAP, [])
    if row.get("asks"):
        return answer.status is AnswerStatus.QUESTION and set(called) - HELPERS == {"request_human_input"}
    if not row["tools"]:
        return called == []
    others = set(called) - set(row["tools"]) - HELPERS
    return bool(set(called) & set(row["tools"])) and not others


@pytest.mark.req("SKL-SC-001", "SKL-Q12", "SKL-FR-004", "SKL-EDGE-02", "SKL-US1.1", "SKL-SC-005")
@pytest.mark.timeout(600)
async def test_the_assistant_reaches_for_the_right_tool(tmp_path: Path, database_url: str) -> None:
    (tmp_path / "budget.csv").write_text("item,amount\nrent,900\nfood,300\n")
    (tmp_path / "notes.md").write_text("# Notes\n\nWater the plants.\n")
    (tmp_path / "reports").mkdir()
    right, asked = Counter[str](), Counter[str]()
    wrong: list[str] = []
    async with small_web() as web, open_house(tmp_path, database_url, web) as house:
        for title in ("water the plants", "file the tax return", "dentist appointment"):
            await house.ask(f"Add a task: {title}", agent="tasks")
        for row in PROMPTS:
            answer = await house.ask(row["prompt"], agent="assistant")
            asked[row["kind"]] += 1
            right[row["kind"]] += is_right(row, answer)
            if not is_right(row, answer):
                wrong.append(
                    f"{row['prompt']!r}: {answer.status.value} {tools(answer)} {answer.answer[:80]!r}"
                )
    assert len(PROMPTS) >= 60
    assert sum(right.values()) / len(PROMPTS) >= AT_LEAST, "\n".join([str(right), *wrong])
    assert right["search"] / asked["search"] >= AT_LEAST, "\n".join(wrong)
