"""What to paste into which client: the form each one takes, from its own documentation.

Owns the forms only. The key in them is `steward connect`'s.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

NAME = "steward"


@dataclass(frozen=True, slots=True)
class Access:
    """Where Steward listens and the key that opens it."""

    address: str
    key: str

    @property
    def chat(self) -> str:
        return f"{self.address}/v1"

    @property
    def tools(self) -> str:
        return f"{self.address}/mcp"

    @property
    def header(self) -> str:
        return f"Bearer {self.key}"


@dataclass(frozen=True, slots=True)
class Client:
    """A program that Steward can be used from. `chats`: it talks to the agents; else it uses the tools."""

    title: str
    where: str
    paste: Callable[[Access], str]
    chats: bool = False
    hint: str = ""

    def url(self, access: Access) -> str:
        return access.chat if self.chats else access.tools


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2)


def _headers(access: Access) -> dict[str, str]:
    return {"Authorization": access.header}


def _openai(access: Access) -> str:
    # Under both names: LlamaIndex and older libraries know only the second one.
    return (
        f"export OPENAI_BASE_URL={access.chat}\nexport OPENAI_API_BASE={access.chat}\n"
        f"export OPENAI_API_KEY={access.key}"
    )


def _open_webui(access: Access) -> str:
    return f"URL: {access.chat}\nKey: {access.key}"


def _librechat(access: Access) -> str:
    return f"""\
endpoints:
  custom:
    - name: "Steward"
      apiKey: "{access.key}"
      baseURL: "{access.chat}"
      models:
        default: ["assistant", "researcher", "tasks"]
        fetch: true
      titleConvo: false"""


def _cursor(access: Access) -> str:
    return _json({"mcpServers": {NAME: {"url": access.tools, "headers": _headers(access)}}})


def _vscode(access: Access) -> str:
    server = {"type": "http", "url": access.tools, "headers": _headers(access)}
    return _json({"servers": {NAME: server}})


def _claude(access: Access) -> str:
    server = {"type": "http", "url": access.tools, "headers": _headers(access)}
    return _json({"mcpServers": {NAME: server}})


def piped(program: str, home: str, role: str) -> str:
    """For a client that starts its servers itself, as you: it needs no key, and its role is an option."""
    server = {
        "command": program,
        "args": ["serve", "gateway", "--role", role],
        "env": {"STEWARD_HOME": home},
    }
    return _json({"mcpServers": {NAME: server}})


def _claude_code(access: Access) -> str:
    return f'claude mcp add --transport http {NAME} {access.tools} --header "Authorization: {access.header}"'


def _windsurf(access: Access) -> str:
    return _json({"mcpServers": {NAME: {"serverUrl": access.tools, "headers": _headers(access)}}})


def _gemini(access: Access) -> str:
    return _json({"mcpServers": {NAME: {"httpUrl": access.tools, "headers": _headers(access)}}})


def _codex(access: Access) -> str:
    headers = f'http_headers = {{ Authorization = "{access.header}" }}'
    return f'[mcp_servers.{NAME}]\nurl = "{access.tools}"\n{headers}'


def _mcp(access: Access) -> str:
    return f"URL: {access.tools}\nHeader: Authorization: {access.header}"


PIPED = "claude-desktop"
CLIENTS: dict[str, Client] = {
    "openai": Client("programs that use OpenAI's libraries", "your shell or .env", _openai, chats=True),
    "open-webui": Client("Open WebUI", "Admin Settings, Connections, OpenAI API, +", _open_webui, chats=True),
    "librechat": Client("LibreChat", "librechat.yaml", _librechat, chats=True),
    "cursor": Client("Cursor", "~/.cursor/mcp.json, or .cursor/mcp.json in a project", _cursor),
    "claude": Client(
        "Claude Code",
        ".mcp.json of a project",
        _claude,
        hint="For Claude Desktop: claude-desktop",
    ),
    "claude-code": Client("Claude Code", "your shell", _claude_code),
    "vscode": Client("VS Code", ".vscode/mcp.json", _vscode),
    "windsurf": Client("Windsurf", "~/.codeium/windsurf/mcp_config.json", _windsurf),
    "gemini": Client("Gemini CLI", "~/.gemini/settings.json", _gemini),
    "codex": Client("Codex CLI", "~/.codex/config.toml", _codex),
    "mcp": Client("any other MCP client", "where it asks for a remote server", _mcp),
}
