"""mcp.json: which MCP servers there are and how far each is trusted.

Reads the `mcpServers` object that Claude and Cursor use and the array form of
`{name, command, args, env, timeout, autoStart}`. Owns this file: parsing, explaining what is wrong with
it, changing it safely. Does not connect (connection.py) and holds no secret: `${...}` stays as written
until a connection is made (secrets.py).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from steward.contract.errors import ConfigError, ErrorCode, NotFoundError
from steward.contract.tool import TOOL_NAME, RiskLevel
from steward.providers.jsonfile import JsonDocument, locked, parse_json, read_json, replace_file

DEFAULT_TIMEOUT_MS = 10_000
DEFAULT_MAX_MESSAGE_BYTES = 4 * 1024 * 1024
EMPTY = '{\n  "mcpServers": {}\n}\n'
MAX_PROBLEMS = 5
FIX_MISSING = "Restore it, or run `steward init`."


@dataclass(frozen=True, slots=True)
class StdioTransport:
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class HttpTransport:
    """Streamable HTTP, or the older SSE transport when `sse` is set."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    sse: bool = False


Transport = StdioTransport | HttpTransport


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthConfig:
    """How to sign in to a remote server. Empty: register by itself, ask the person in a browser."""

    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    scope: str | None = None
    grant: Literal["authorization_code", "client_credentials"] = "authorization_code"
    issuer: str | None = None
    private_key: str | None = field(default=None, repr=False)
    signing_algorithm: str = "ES256"
    redirect_port: int = 0
    client_metadata_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig:
    name: str
    transport: Transport
    namespace: str
    timeout: float = DEFAULT_TIMEOUT_MS / 1000  # seconds to connect, and to notice that it is gone
    tool_timeout: float | None = None  # seconds for a call; None: the platform's default
    auto_start: bool = True
    trusted: bool = False  # its hints on risk and replay count
    steward: bool = False  # it is a Steward: it rates its tools and asks a person itself
    requires_approval: bool = False
    allow: tuple[str, ...] = ("*",)
    deny: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])  # extra name -> the server's tool
    risk: tuple[tuple[str, RiskLevel], ...] = ()
    protocol: str = "auto"
    oauth: OAuthConfig | None = None
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES

    def offers(self, tool: str) -> bool:
        allowed = any(fnmatchcase(tool, pattern) for pattern in self.allow)
        return allowed and not any(fnmatchcase(tool, pattern) for pattern in self.deny)

    def risk_of(self, tool: str) -> RiskLevel | None:
        """What the file says: the exact name wins, then the highest of the patterns that fit."""
        exact = [level for pattern, level in self.risk if pattern == tool]
        fitting = exact or [level for pattern, level in self.risk if fnmatchcase(tool, pattern)]
        return max(fitting, key=lambda level: level.rank, default=None)

    def aliases_of(self, tool: str) -> tuple[str, ...]:
        return tuple(alias for alias, target in self.aliases.items() if target == tool)


@dataclass(frozen=True, slots=True)
class McpConfig:
    servers: tuple[ServerConfig, ...] = ()
    notes: tuple[str, ...] = ()  # what was tolerated, for `steward doctor`


def load_mcp_config(path: Path) -> McpConfig:
    return interpret(read_json(path, fix_missing=FIX_MISSING))


def parse_mcp_config(text: str, path: Path = Path("mcp.json")) -> McpConfig:
    return interpret(parse_json(path, text))


def server_entries(path: Path) -> dict[str, dict[str, Any]]:
    """The servers as they are written, by name."""
    document = read_json(path, fix_missing=FIX_MISSING)
    interpret(document)
    return _as_object_form(document.value)["mcpServers"]


def change_mcp_config(path: Path, change: Callable[[dict[str, Any]], None]) -> McpConfig:
    """Apply `change` to the file's `mcpServers` object; nothing is written unless the result is valid."""
    with locked(path):
        document = read_json(path, fix_missing=FIX_MISSING) if path.exists() else parse_json(path, EMPTY)
        interpret(document)
        content: dict[str, Any] = _as_object_form(document.value)
        change(content["mcpServers"])
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        config = parse_mcp_config(text, path)
        replace_file(path, text.encode())
        return config


def add_server(path: Path, name: str, entry: Mapping[str, Any]) -> McpConfig:
    """Add a server or replace the one of that name."""
    return change_mcp_config(path, lambda servers: servers.update({name: dict(entry)}))


def remove_server(path: Path, name: str) -> McpConfig:
    def remove(servers: dict[str, Any]) -> None:
        if servers.pop(name, None) is None:
            raise NotFoundError(
                f"{path} has no server '{name}'.", fix="See `steward agents list` for the names."
            )

    return change_mcp_config(path, remove)


def import_servers(path: Path, pasted: str) -> McpConfig:
    """Take over the servers of a pasted Claude or Cursor configuration, as it is."""
    incoming = parse_json(Path("pasted configuration"), pasted)
    interpret(incoming)
    servers = _as_object_form(incoming.value)["mcpServers"]
    return change_mcp_config(path, lambda existing: existing.update(servers))


def _as_object_form(value: Any) -> dict[str, Any]:
    """The object form of either form; other top-level keys are kept."""
    content: dict[str, Any] = {"mcpServers": value} if isinstance(value, list) else dict(value)
    key = "mcpServers" if "mcpServers" in content or "servers" not in content else "servers"
    servers: Any = content.pop(key, {})
    if isinstance(servers, list):
        entries = cast("list[dict[str, Any]]", servers)
        servers = {entry["name"]: {k: v for k, v in entry.items() if k != "name"} for entry in entries}
    return {"mcpServers": servers, **content}


# --- the edge: what a person may write ---------------------------------------------------------------


def _transport_kind(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    kind = value.lower().replace("_", "").replace("-", "")
    return "http" if kind == "streamablehttp" else kind


_Milliseconds = Annotated[float, Field(gt=0, le=86_400_000)]
_Risks = dict[str, RiskLevel]


class _OAuthEntry(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)

    client_id: str | None = None
    client_secret: str | None = None
    scope: str | None = None
    grant: Literal["authorization_code", "client_credentials"] = "authorization_code"
    issuer: str | None = None
    private_key: str | None = None
    signing_algorithm: str = "ES256"
    redirect_port: int = Field(default=0, ge=0, le=65535)
    client_metadata_url: str | None = None


class _Entry(BaseModel):
    """One server as written. Keys that other programs use are tolerated and noted."""

    model_config = ConfigDict(
        extra="allow", alias_generator=to_camel, populate_by_name=True, coerce_numbers_to_str=True
    )

    name: str | None = None
    type: Annotated[
        Literal["stdio", "sse", "http"] | None,
        BeforeValidator(_transport_kind),
        Field(validation_alias=AliasChoices("type", "transport")),
    ] = None
    command: str | None = Field(default=None, min_length=1)
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str | None = Field(
        default=None, min_length=1, validation_alias=AliasChoices("url", "serverUrl", "httpUrl")
    )
    headers: dict[str, str] = {}
    timeout: _Milliseconds = DEFAULT_TIMEOUT_MS
    tool_timeout: _Milliseconds | None = None
    auto_start: bool = True
    disabled: bool = False
    trusted: bool = False
    steward: bool = False
    requires_approval: bool = False
    namespace: str | None = None
    allow: list[str] = Field(default=["*"], validation_alias=AliasChoices("allow", "includeTools"))
    deny: list[str] = Field(
        default=[], validation_alias=AliasChoices("deny", "excludeTools", "disabledTools")
    )
    aliases: dict[str, str] = {}
    risk: _Risks = {}
    protocol: Literal["auto", "legacy", "2026-07-28"] = "auto"
    oauth: _OAuthEntry | bool | None = None
    max_message_bytes: int = Field(default=DEFAULT_MAX_MESSAGE_BYTES, ge=1024)


_FIXES = {
    "command": 'Write the program to start, such as "command": "npx".',
    "args": 'Write a list of strings, such as "args": ["-y", "some-server"].',
    "env": 'Write an object of strings, such as "env": {"TOKEN": "${TOKEN}"}.',
    "headers": 'Write an object of strings, such as "headers": {"Authorization": "Bearer ${TOKEN}"}.',
    "timeout": 'Write milliseconds above 0, such as "timeout": 10000.',
    "toolTimeout": 'Write milliseconds above 0, such as "toolTimeout": 60000.',
    "type": "Use stdio, sse or http.",
    "transport": "Use stdio, sse or http.",
    "risk": "Map tools to reversible, reversible_with_delay or irreversible.",
    "protocol": "Use auto, legacy or 2026-07-28.",
}
_NOT_TAKEN_OVER = {"alwaysAllow", "autoApprove", "trust"}


@dataclass
class _Reading:
    """One pass over a document: collects servers, notes and problems in file order."""

    document: JsonDocument
    servers: list[ServerConfig] = field(default_factory=list[ServerConfig])
    notes: list[str] = field(default_factory=list[str])
    problems: list[ConfigError] = field(default_factory=list[ConfigError])

    def problem(self, keys: tuple[str | int, ...], message: str, fix: str) -> None:
        path, line, column = self.document.path, self.document.line(keys), self.document.column(keys)
        self.problems.append(
            ConfigError(
                f"{path}, line {line}, column {column}: {message}",
                fix=fix,
                details={"file": str(path), "line": line, "column": column},
            )
        )

    def entry(self, keys: tuple[str | int, ...], name: str | None, value: Any) -> None:
        if not isinstance(value, dict):
            self.problem(keys, "a server must be an object.", 'Write {"command": "..."} or {"url": "..."}.')
            return
        try:
            entry = _Entry.model_validate(value)
        except ValidationError as error:
            for found in error.errors(include_url=False):
                where = tuple(part for part in found["loc"] if part not in ("bool", "_OAuthEntry"))
                key = str(where[0]) if where else ""
                fix = _FIXES.get(key, "See docs/mcp-servers.md for the keys and their values.")
                shown = ".".join(str(part) for part in where)
                self.problem((*keys, *where), f"server '{name or '?'}': {shown}: {found['msg']}.", fix)
            return
        self._server(keys, name if name is not None else entry.name, entry)

    def _server(self, keys: tuple[str | int, ...], name: str | None, entry: _Entry) -> None:
        if not name:
            self.problem(keys, "a server needs a name.", 'Add "name": "something-short".')
            return
        for key in entry.model_extra or {}:
            taken = (
                "approvals are given in policy.toml" if key in _NOT_TAKEN_OVER else "Steward does not use it"
            )
            self.notes.append(f"server '{name}': '{key}' is ignored; {taken}.")
        transport = self._transport(keys, name, entry)
        for alias in entry.aliases:
            if not TOOL_NAME.fullmatch(alias):
                self.problem(
                    (*keys, "aliases", alias),
                    f"server '{name}': '{alias}' is not a tool name.",
                    "Use 1 to 64 letters, digits, '_' or '-'.",
                )
        if transport is not None:
            self.servers.append(_server_config(name, transport, entry))

    def _transport(self, keys: tuple[str | int, ...], name: str, entry: _Entry) -> Transport | None:
        remote = entry.type in ("http", "sse") or (entry.type is None and entry.command is None)
        if remote and entry.url:
            if entry.url.startswith(("http://", "https://", "${")):
                return HttpTransport(entry.url, entry.headers, sse=entry.type == "sse" or _looks_sse(entry))
            self.problem(
                (*keys, "url"),
                f"server '{name}': '{entry.url}' is not a web address.",
                "Begin it with https://.",
            )
        elif not remote and entry.command:
            return StdioTransport(entry.command, tuple(entry.args), entry.env, entry.cwd)
        else:
            missing = "url" if entry.type in ("http", "sse") else "command"
            self.problem(
                keys,
                f"server '{name}' has no {missing}.",
                'Add "command" for a local program or "url" for a remote server.',
            )
        return None


def _looks_sse(entry: _Entry) -> bool:
    """Addresses of the older transport end in /sse by convention; `type` decides where it is given."""
    return entry.type is None and (entry.url or "").split("?")[0].rstrip("/").endswith("/sse")


def _server_config(name: str, transport: Transport, entry: _Entry) -> ServerConfig:
    return ServerConfig(
        name=name,
        transport=transport,
        namespace=name if entry.namespace is None else entry.namespace,
        timeout=entry.timeout / 1000,
        tool_timeout=None if entry.tool_timeout is None else entry.tool_timeout / 1000,
        auto_start=entry.auto_start and not entry.disabled,
        trusted=entry.trusted,
        steward=entry.steward,
        requires_approval=entry.requires_approval,
        allow=tuple(entry.allow),
        deny=tuple(entry.deny),
        aliases=entry.aliases,
        risk=tuple(entry.risk.items()),
        protocol=entry.protocol,
        oauth=_oauth(transport, entry.oauth),
        max_message_bytes=entry.max_message_bytes,
    )


def _oauth(transport: Transport, written: _OAuthEntry | bool | None) -> OAuthConfig | None:
    """A remote server that asks for a sign-in gets one, unless its key is given or the file says no."""
    if isinstance(written, _OAuthEntry):
        return OAuthConfig(**written.model_dump())
    if not isinstance(transport, HttpTransport) or written is False:
        return None
    has_key = any(name.lower() == "authorization" for name in transport.headers)
    return None if has_key and written is None else OAuthConfig()


def interpret(document: JsonDocument) -> McpConfig:
    """The document's servers, or one error that names every problem with its line."""
    reading = _Reading(document)
    value: Any = document.value
    keys: tuple[str | int, ...] = ()
    if isinstance(value, dict):
        content = cast("dict[str, Any]", value)
        key = "mcpServers" if "mcpServers" in content or "servers" not in content else "servers"
        if key not in content:
            reading.problem((), "there is no 'mcpServers' here.", 'Wrap the servers: {"mcpServers": {...}}.')
        reading.notes.extend(f"'{extra}' is ignored." for extra in content if extra != key)
        keys, value = (key,), content.get(key, {})
    if isinstance(value, dict):
        for name, entry in cast("dict[str, Any]", value).items():
            reading.entry((*keys, name), name, entry)
    elif isinstance(value, list):
        for index, entry in enumerate(cast("list[Any]", value)):
            reading.entry((*keys, index), None, entry)
    else:
        reading.problem(keys, "the servers must be an object or a list.", 'Write {"mcpServers": {...}}.')
    _check_namespaces(reading)
    if reading.problems:
        raise _combined(reading.problems)
    return McpConfig(tuple(reading.servers), tuple(reading.notes))


def _check_namespaces(reading: _Reading) -> None:
    seen: dict[str, str] = {}
    for server in reading.servers:
        other = seen.setdefault(server.namespace.casefold(), server.name)
        if other is not server.name:
            reading.problem(
                ("mcpServers", server.name),
                f"servers '{other}' and '{server.name}' would give their tools the same names.",
                'Give one of them another name or "namespace".',
            )


def _combined(problems: list[ConfigError]) -> ConfigError:
    if len(problems) == 1:
        return problems[0]
    shown = problems[:MAX_PROBLEMS]
    more = [f"... and {len(problems) - len(shown)} more."] if len(problems) > len(shown) else []
    lines = [problem.explain() for problem in shown]
    return ConfigError(
        "\n".join([*lines, *more]), code=ErrorCode.CONFIG_INVALID, details=dict(problems[0].details)
    )
