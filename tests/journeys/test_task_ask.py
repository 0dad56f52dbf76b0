"""A task's whole life by `steward ask`, against a running Steward, on the planner: one process a sentence."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support.limits import within
from tests.support.running import steward_up


async def ask(folder: Path, *words: str) -> tuple[int, dict[str, Any]]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "steward", "ask", *words, "--json",
        env=os.environ | {"STEWARD_HOME": str(folder / "home")}, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, json.loads(out)


@pytest.mark.req("TODO-SC-001", "TODO-SC-007", "TODO-ABR-022")
async def test_a_tasks_life_by_asking(home: Path, database_url: str) -> None:
    async with steward_up(home, database_url, STEWARD_MODEL="planner"), within(120):
        async with within(5):
            code, answer = await ask(home, "Add buy milk to my tasks", "--agent", "tasks")
        here = answer["conversation"]
        lived = [(code, answer["status"], answer["answer"])]
        for said in (
            "Show my tasks",
            "I bought the milk",
            "Delete buy milk",
            "Yes, delete it",
            "Show my tasks",
        ):
            code, answer = await ask(home, said, "--conversation", here)
            # What is asked stands before the whole call.
            lived.append((code, answer["status"], answer["answer"].partition("\n\n```")[0]))
    assert lived == [
        (0, "done", "I've added 'buy milk' to your tasks."),
        (0, "done", "You have 1 task:\n1. buy milk"),
        (0, "done", "Great! I've marked 'buy milk' as complete."),
        (3, "pending_approval", "Are you sure you want to delete 'buy milk'? This cannot be undone."),
        (0, "done", "I've deleted 'buy milk' from your tasks."),
        (0, "done", "You don't have any tasks yet."),
    ]
