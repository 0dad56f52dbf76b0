"""Conversations with the real program: killed in the middle, answered twice at once, stopped with Ctrl-C."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.running import Running, steward_up
from tests.support.scripted_model import CallTools, Hang, Say, scripted_model

STEWARD = (sys.executable, "-m", "steward")
PIPE = asyncio.subprocess.PIPE


class Shell:
    """Somebody at a terminal of the same home."""

    def __init__(self, folder: Path, database_url: str, **variables: str) -> None:
        self._folder = folder
        self._environment = os.environ | {
            "STEWARD_HOME": str(folder / "home"),
            "DATABASE_URL": database_url,
            "OTEL_EXPORTER_OTLP_ENDPOINT": "none",
            "STEWARD_MODEL": "planner",
            **variables,
        }

    async def start(self, *arguments: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *STEWARD,
            *arguments,
            env=self._environment,
            cwd=self._folder,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
        )

    async def ask(self, text: str, *more: str) -> tuple[int, dict[str, Any]]:
        process = await self.start("ask", text, *more, "--json")
        out, err = await process.communicate()
        assert b"Traceback" not in err, err
        assert process.returncode is not None
        return process.returncode, json.loads(out)


class Client:
    """A program that talks to the running Steward."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def say(self, text: str, conversation: str | None = None) -> httpx.Response:
        body = {"message": text, "conversation": conversation, "agent": "tasks"}
        return await self._http.post("/v1/chat", json=body)

    async def tasks(self) -> list[str]:
        return [task["title"] for task in (await self._http.get("/v1/tasks")).json()["items"]]

    async def deletions(self) -> int:
        lines = (await self._http.get("/v1/executions?tool=delete_task")).json()["items"]
        return sum(line["status"] == "done" for line in lines)


@asynccontextmanager
async def running(folder: Path, database_url: str) -> AsyncIterator[tuple[Running, Client]]:
    async with (
        steward_up(folder, database_url, STEWARD_MODEL="planner") as up,
        httpx.AsyncClient(base_url=up.url, timeout=60, headers=up.owner) as http,
    ):
        yield up, Client(http)


@pytest.mark.req("ORC-FR-012")
async def test_a_kill_between_the_question_and_the_yes_loses_nothing(
    tmp_path: Path, database_url: str
) -> None:
    shell = Shell(tmp_path, database_url)
    async with running(tmp_path, database_url) as (up, client):
        await client.say("Add old reminder to my tasks")
        asked = (await client.say("Delete old reminder")).json()
        before = await client.tasks()
        up.process.kill()
        await up.process.wait()
    code, deleted = await shell.ask("Yes, delete it", "--conversation", asked["conversation"])
    assert (asked["status"], before, code, deleted["status"]) == (
        "pending_approval",
        ["old reminder"],
        0,
        "done",
    )
    assert [(call["tool"], call["status"]) for call in deleted["tool_calls"]] == [("delete_task", "done")]


async def test_clients_that_say_yes_at_once_delete_once(tmp_path: Path, database_url: str) -> None:
    shell = Shell(tmp_path, database_url)
    async with running(tmp_path, database_url) as (_, client):
        await client.say("Add old reminder to my tasks")
        asked = (await client.say("Delete old reminder")).json()["conversation"]
        (code, told), *others = await asyncio.gather(
            shell.ask("yes", "--conversation", asked), *(client.say("yes", asked) for _ in range(3))
        )
        deletions, left = await client.deletions(), await client.tasks()
    assert (deletions, left) == (1, [])
    answered = [told] if code == 0 else []
    answered += [each.json() for each in others if each.status_code == 200]
    done = [
        answer for answer in answered if [call["tool"] for call in answer["tool_calls"]] == ["delete_task"]
    ]
    assert (len(done), {each.status_code for each in others} <= {200, 409}) == (1, True)


async def test_an_answer_made_in_one_program_is_stopped_from_another(
    tmp_path: Path, database_url: str
) -> None:
    async with scripted_model(Hang()) as model:
        variables = {"STEWARD_MODEL": "openai:m", "OPENAI_BASE_URL": model.address, "OPENAI_API_KEY": "k"}
        shell = Shell(tmp_path, database_url, **variables)
        asking = await shell.start("ask", "Think about it", "--json")
        async with asyncio.timeout(200):
            await model.hanging.wait()
            stopping = await shell.start("stop", "--json")
            out, _ = await stopping.communicate()
            answer = json.loads((await asking.communicate())[0])
            again = await shell.start("stop")
            nothing, _ = await again.communicate()
    assert (json.loads(out), asking.returncode) == ({"stopped": [answer["conversation"]]}, 1)
    assert ("The run was stopped." in answer["answer"], b"Nothing is being answered" in nothing) == (
        True,
        True,
    )


async def test_a_chat_goes_on_after_ctrl_c(tmp_path: Path, database_url: str) -> None:
    note = CallTools(("save_fact", {"text": "The key is at Ana's."}))
    async with scripted_model(note, Hang(), Say("Still here.")) as model:
        variables = {"STEWARD_MODEL": "openai:m", "OPENAI_BASE_URL": model.address, "OPENAI_API_KEY": "k"}
        process = await Shell(tmp_path, database_url, **variables).start("chat")
        assert process.stdin is not None
        process.stdin.write(b"Remember that the key is at Ana's.\n")
        async with asyncio.timeout(100):
            await model.hanging.wait()
            process.send_signal(signal.SIGINT)
            process.stdin.write(b"/history\nAre you there?\n/new\n/history\n/quit\n")
            out, err = await process.communicate()
    assert (process.returncode, b"Traceback" in err) == (0, False), err
    assert b"Stopped." in err
    assert b"save_fact" in err
    assert b"you> Remember that the key is at Ana's." in out
    assert b"Still here." in out
    assert b"Nothing was said yet." in out
