import json
import subprocess
import sys
from pathlib import Path

import pytest

from steward.contract.errors import ConfigError, NotFoundError
from steward.contract.tool import RiskLevel
from steward.providers.mcp.mcp_config import (
    EMPTY,
    HttpTransport,
    McpConfig,
    OAuthConfig,
    ServerConfig,
    StdioTransport,
    add_server,
    change_mcp_config,
    import_servers,
    load_mcp_config,
    parse_mcp_config,
    remove_server,
)

CLAUDE_DESKTOP = """
{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/ana/Desktop"],
      "env": {"DEBUG": "1", "RETRIES": 3},
      "disabled": false,
      "alwaysAllow": ["read_file"]
    },
    "old": {"command": "uvx", "args": ["mcp-server-git"], "disabled": true},
    "linear": {"type": "sse", "url": "https://mcp.linear.app/sse"},
    "docs": {"url": "https://docs.example.com/mcp", "headers": {"Authorization": "Bearer ${DOCS_TOKEN}"}}
  }
}
"""


def only(text: str) -> ServerConfig:
    (server,) = parse_mcp_config(text).servers
    return server


def refused(text: str) -> ConfigError:
    with pytest.raises(ConfigError) as error:
        parse_mcp_config(text)
    assert error.value.code == "CONFIG_INVALID"
    return error.value


def test_a_claude_desktop_configuration_works_as_it_is() -> None:
    assert parse_mcp_config(CLAUDE_DESKTOP) == McpConfig(
        servers=(
            ServerConfig(
                name="filesystem",
                namespace="filesystem",
                transport=StdioTransport(
                    "npx",
                    ("-y", "@modelcontextprotocol/server-filesystem", "/home/ana/Desktop"),
                    {"DEBUG": "1", "RETRIES": "3"},
                ),
            ),
            ServerConfig(
                name="old",
                namespace="old",
                transport=StdioTransport("uvx", ("mcp-server-git",)),
                auto_start=False,
            ),
            ServerConfig(
                name="linear",
                namespace="linear",
                transport=HttpTransport("https://mcp.linear.app/sse", sse=True),
                oauth=OAuthConfig(),
            ),
            ServerConfig(
                name="docs",
                namespace="docs",
                transport=HttpTransport(
                    "https://docs.example.com/mcp", {"Authorization": "Bearer ${DOCS_TOKEN}"}
                ),
            ),
        ),
        notes=(
            "'globalShortcut' is ignored.",
            "server 'filesystem': 'alwaysAllow' is ignored; approvals are given in policy.toml.",
        ),
    )


@pytest.mark.req("ORC-Q21")
def test_the_array_form_has_its_defaults() -> None:
    entry = {"name": "time", "command": "python", "args": ["-m", "time_server"], "env": {"TZ": "UTC"}}
    assert only(json.dumps([entry])) == ServerConfig(
        name="time",
        namespace="time",
        transport=StdioTransport("python", ("-m", "time_server"), {"TZ": "UTC"}),
        timeout=10.0,
        auto_start=True,
    )
    changed = only(json.dumps([{**entry, "timeout": 2500, "autoStart": False}]))
    assert (changed.timeout, changed.auto_start) == (2.5, False)


def test_every_key_is_understood() -> None:
    server = only(
        json.dumps(
            {
                "mcpServers": {
                    "s": {
                        "type": "streamable-http",
                        "url": "https://example.com/mcp",
                        "toolTimeout": 60000,
                        "trusted": True,
                        "requiresApproval": True,
                        "namespace": "x",
                        "allow": ["read_*", "write"],
                        "deny": ["read_secret"],
                        "aliases": {"peek": "read_file"},
                        "risk": {"read_*": "reversible", "write": "irreversible"},
                        "protocol": "legacy",
                        "maxMessageBytes": 2048,
                        "oauth": {"clientId": "me", "clientSecret": "${S}", "grant": "client_credentials"},
                    }
                }
            }
        )
    )
    assert server == ServerConfig(
        name="s",
        namespace="x",
        transport=HttpTransport("https://example.com/mcp"),
        tool_timeout=60.0,
        trusted=True,
        requires_approval=True,
        allow=("read_*", "write"),
        deny=("read_secret",),
        aliases={"peek": "read_file"},
        risk=(("read_*", RiskLevel.REVERSIBLE), ("write", RiskLevel.IRREVERSIBLE)),
        protocol="legacy",
        max_message_bytes=2048,
        oauth=OAuthConfig(client_id="me", client_secret="${S}", grant="client_credentials"),
    )
    assert [name for name in ("read_file", "read_secret", "write", "other") if server.offers(name)] == [
        "read_file",
        "write",
    ]
    assert server.risk_of("read_file") is RiskLevel.REVERSIBLE
    assert server.risk_of("other") is None
    assert server.aliases_of("read_file") == ("peek",)


def test_an_exact_name_wins_over_patterns_and_patterns_take_the_highest() -> None:
    risk = {"*": "irreversible", "read_*": "reversible_with_delay", "read_file": "reversible"}
    server = only(json.dumps({"mcpServers": {"s": {"command": "x", "risk": risk}}}))
    assert server.risk_of("read_file") is RiskLevel.REVERSIBLE
    assert server.risk_of("read_other") is RiskLevel.IRREVERSIBLE


@pytest.mark.parametrize(
    ("entry", "transport"),
    [
        ({"url": "http://h/mcp"}, HttpTransport("http://h/mcp")),
        ({"url": "http://h/sse"}, HttpTransport("http://h/sse", sse=True)),
        ({"type": "http", "url": "http://h/sse"}, HttpTransport("http://h/sse")),
        ({"transport": "sse", "url": "http://h/x"}, HttpTransport("http://h/x", sse=True)),
        ({"type": "streamableHttp", "url": "http://h/x"}, HttpTransport("http://h/x")),
        ({"serverUrl": "http://h/x"}, HttpTransport("http://h/x")),
        ({"type": "stdio", "command": "run", "cwd": "/tmp"}, StdioTransport("run", cwd="/tmp")),
    ],
)
def test_the_transport_is_inferred(entry: dict[str, str], transport: object) -> None:
    assert only(json.dumps({"mcpServers": {"s": entry}})).transport == transport


def test_oauth_is_offered_to_remote_servers_unless_switched_off() -> None:
    remote = {"url": "https://h/mcp"}
    assert only(json.dumps({"mcpServers": {"s": remote}})).oauth == OAuthConfig()
    assert only(json.dumps({"mcpServers": {"s": {**remote, "oauth": False}}})).oauth is None
    assert only(json.dumps({"mcpServers": {"s": {"command": "x"}}})).oauth is None


def test_broken_json_is_shown_with_its_line_and_column() -> None:
    error = refused('{\n  "mcpServers": {\n    "a": {"command": "x"},\n  }\n}')
    assert "line 4, column 3" in error.message
    assert error.fix


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{"mcpServers": {\n  "a": {\n    "command": "x",\n    "timeout": -1\n  }\n}}', 4, 16),
        ('{"mcpServers": {\n  "a": {"command": "x", "args": ["1", 2, {}]}\n}}', 2, 42),
        ('{"mcpServers": {\n  "a": {"risk": {"t": "harmless"}, "command": "x"}\n}}', 2, 23),
        ('[\n  {"name": "a", "command": "x"},\n  {"command": "y"}\n]', 3, 3),
        ('{"mcpServers": {"a": {"type": "carrier-pigeon", "url": "http://x"}}}', 1, 31),
        ('{"mcpServers": {"a": {"url": "gopher://x"}}}', 1, 30),
        ('{"mcpServers": {"a": {"type": "http"}}}', 1, 22),
        ('{"mcpServers": {"a": {}}}', 1, 22),
        ('{"mcpServers": {"a": 5}}', 1, 22),
        ('{"mcpServers": 5}', 1, 16),
        ('{"servrs": {}}', 1, 1),
        ('{"mcpServers": {"a": {"command": "x", "aliases": {"no spaces": "t"}}}}', 1, 64),
    ],
)
def test_a_violation_names_its_place_and_a_fix(text: str, line: int, column: int) -> None:
    error = refused(text)
    assert error.details == {"file": "mcp.json", "line": line, "column": column}
    assert error.fix


def test_all_problems_are_told_at_once() -> None:
    servers = {f"s{n}": {"command": ""} for n in range(7)}
    error = refused(json.dumps({"mcpServers": servers}))
    assert error.message.count("\n") == 5
    assert error.message.endswith("... and 2 more.")


def test_servers_that_would_share_tool_names_are_refused() -> None:
    error = refused('{"mcpServers": {\n"a": {"command": "x"},\n"b": {"command": "y", "namespace": "A"}}}')
    assert error.details["line"] == 3


def test_a_missing_file_is_not_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        load_mcp_config(tmp_path / "mcp.json")
    assert error.value.code == "CONFIG_MISSING"


def test_servers_are_added_replaced_and_removed(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    add_server(path, "a", {"command": "x"})
    add_server(path, "b", {"command": "y"})
    add_server(path, "a", {"command": "z"})
    assert [s.transport for s in load_mcp_config(path).servers] == [StdioTransport("z"), StdioTransport("y")]
    remove_server(path, "a")
    assert [s.name for s in load_mcp_config(path).servers] == ["b"]
    with pytest.raises(NotFoundError):
        remove_server(path, "a")


def test_a_pasted_configuration_joins_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text('[{"name": "mine", "command": "x"}]')
    import_servers(path, CLAUDE_DESKTOP)
    assert [s.name for s in load_mcp_config(path).servers] == ["mine", "filesystem", "old", "linear", "docs"]


def test_a_change_that_would_break_the_file_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(EMPTY)
    with pytest.raises(ConfigError):
        add_server(path, "a", {"command": []})
    with pytest.raises(RuntimeError):
        change_mcp_config(path, _explode)
    assert path.read_text() == EMPTY
    assert {file.name for file in tmp_path.iterdir()} <= {"mcp.json", "mcp.json.lock"}


def _explode(_: dict[str, object]) -> None:
    raise RuntimeError


def test_writers_in_several_processes_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(EMPTY)
    program = (
        "import sys; from pathlib import Path; from steward.providers.mcp.mcp_config import add_server\n"
        "for n in range(10): add_server(Path(sys.argv[1]), f'{sys.argv[2]}-{n}', {'command': 'x'})"
    )
    writers = [subprocess.Popen([sys.executable, "-c", program, str(path), name]) for name in "abc"]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0]
    assert len(load_mcp_config(path).servers) == 30
