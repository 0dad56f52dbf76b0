"""Secrets that somebody puts where they would be written down: into calls, questions, errors and traces."""

import asyncio
import json

import httpx
import pytest
from tests.attacks.conftest import Victim
from tests.support.secret_catalogue import CONTEXTS, OWN, SHAPES, TOKENS, filled
from tests.support.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]  # a busy machine starts it slowly

SEED = 14


@pytest.fixture(scope="module")
def user(victim: Victim) -> httpx.Client:
    return victim.acting("use")


def written(victim: Victim, last: str) -> str:
    """All that lies in the logs, once the last line of an attack is there."""

    def text() -> str:
        files = sorted(file for file in (victim.home / "logs").rglob("*") if file.is_file())
        return "".join(file.read_text(errors="replace") for file in files)

    asyncio.run(until(lambda: last in text()))
    return text()


def leaked(templates: tuple[str, ...], text: str) -> list[str]:
    return [
        template
        for template in templates
        if any(part in text for part in filled(template, SEED)[1] if len(part) >= 6)
    ]


def call(user: httpx.Client, tool: str, **arguments: object) -> httpx.Response:
    return user.post(f"/v1/tools/{tool}/call", json={"arguments": arguments})


def add_tasks(user: httpx.Client, templates: tuple[str, ...], last: str) -> None:
    for template in (*templates, last):
        call(user, "add_task", title="A task", description=filled(template, SEED)[0]).raise_for_status()


def test_no_key_of_steward_reaches_a_file_in_any_way_it_is_pasted(victim: Victim, user: httpx.Client) -> None:
    add_tasks(user, OWN, "own-keys-end")
    assert leaked(OWN, written(victim, "own-keys-end")) == []


def test_a_key_that_was_just_made_does_not_reach_a_file(victim: Victim, user: httpx.Client) -> None:
    token = victim.key("use", "local")
    call(user, "add_task", title="made-key-end", description=f"my key is {token}").raise_for_status()
    assert token.rpartition("_")[2] not in written(victim, "made-key-end")


def test_no_makers_token_reaches_a_file(victim: Victim, user: httpx.Client) -> None:
    add_tasks(user, TOKENS, "tokens-end")
    assert leaked(TOKENS, written(victim, "tokens-end")) == []


def test_no_password_in_a_pasted_command_or_file_reaches_a_file(victim: Victim, user: httpx.Client) -> None:
    add_tasks(user, CONTEXTS, "contexts-end")
    assert leaked(CONTEXTS, written(victim, "contexts-end")) == []


def test_the_log_over_http_shows_no_secret(victim: Victim, user: httpx.Client) -> None:
    add_tasks(user, SHAPES[::5], "over-http-end")
    written(victim, "over-http-end")
    assert leaked(SHAPES[::5], json.dumps(victim.lines_logged())) == []


def test_a_secret_under_a_name_of_its_own_is_not_written(victim: Victim, user: httpx.Client) -> None:
    secret = filled("<<b62:24>>", SEED)[1][0]
    for name in ("DB_PASS", "github_pat", "Passwort", "wifi-psk"):
        call(user, "add_task", title="A task", description="x", **{name: secret})
    call(user, "add_task", title="names-end").raise_for_status()
    assert secret not in written(victim, "names-end")


def test_a_tool_name_that_is_a_secret_is_not_written(victim: Victim, user: httpx.Client) -> None:
    """A client that mixes up its fields sends its key as the name of a tool."""
    text, (secret,) = filled("dapi<<hex:32>>", SEED)
    call(user, text)
    call(user, "add_task", title="tool-name-end").raise_for_status()
    assert secret not in written(victim, "tool-name-end")


def test_a_secret_in_a_question_to_an_agent_is_not_written(victim: Victim, user: httpx.Client) -> None:
    text, (secret,) = filled("GOCSPX-<<url:28>>", SEED)
    user.post("/v1/chat", json={"message": f"Remind me to rotate {text} tomorrow", "agent": "tasks"})
    call(user, "add_task", title="question-end").raise_for_status()
    assert secret not in written(victim, "question-end")
