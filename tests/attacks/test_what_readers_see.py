"""A key that may only look, of one user, reaches for what is the owner's or another user's."""

import sys
from collections.abc import Iterator

import pytest
from tests.attacks.conftest import ADMIN, Victim, running_victim
from tests.support.postgres import TestServer

pytestmark = pytest.mark.slow

SECRET = "correct-horse-battery"
TOOL = {
    "name": "weather", "description": "Tells the weather.", "script": "weather.py",
    "input_schema": {"type": "object", "properties": {}}, "env": {"WEATHER_ACCOUNT": SECRET},
}  # fmt: skip
CHATTY = f"import sys; sys.exit('signing in as {SECRET}\\nno such host')"
SERVER = {"command": sys.executable, "args": ["-c", CHATTY]}
POLICY = f"""
[[rule]]
# bob said never
tool = "save_fact"
never = true
arguments = {{ text = "Bob owes {SECRET}" }}
user = "bob"

[[rule]]
tool = "web_search"
trust = false
"""


@pytest.fixture(scope="module")
def victim(postgres: TestServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victim]:
    files = {
        "tools/tools.json": {"tools": [TOOL]},
        "tools/weather.py": "def run():\n    return 'rain'\n",
        "mcp.json": {"mcpServers": {"far": SERVER}},
        "policy.toml": POLICY,
    }
    with running_victim(postgres, tmp_path_factory.mktemp("victim"), files=files) as running:
        for name in ("ana", "bob"):
            running.client(ADMIN).post("/v1/users", json={"id": name}).raise_for_status()
        yield running


@pytest.mark.parametrize("path", ["/v1/tools/weather", "/v1/agents/far/health", "/v1/policy"])
@pytest.mark.parametrize("role", ["read", "use", "approve"])
def test_what_the_owner_wrote_into_a_file_of_the_home_is_not_shown(
    victim: Victim, path: str, role: str
) -> None:
    shown = victim.acting(role, "ana").get(path).raise_for_status().text
    assert SECRET in victim.client(ADMIN).get(path).raise_for_status().text
    assert SECRET not in shown


def test_the_page_shows_no_more_of_it(victim: Victim) -> None:
    page = victim.client()
    page.get(victim.acting("approve", "ana").post("/v1/sign-in-links").json()["path"]).raise_for_status()
    shown = [page.get(path).raise_for_status().text for path in ("/policy", "/tools/weather", "/servers")]
    shown.append(page.get("/servers/far/health").raise_for_status().text)
    assert [text for text in shown if SECRET in text] == []


def test_a_rule_is_shown_to_whom_it_holds_for(victim: Victim) -> None:
    rules = {
        user: {each["tool"] for each in victim.acting("read", user).get("/v1/policy").json()["rules"]}
        for user in ("ana", "bob")
    }
    assert rules == {"ana": {"web_search"}, "bob": {"web_search", "save_fact"}}
