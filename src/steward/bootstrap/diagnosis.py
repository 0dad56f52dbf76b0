"""What `steward doctor` looks at: each part on its own, so that one broken part hides no other.

Owns the checks and their fixes. Changes nothing: a home that was never made is reported, not made.
"""

import asyncio
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from steward.bootstrap import home
from steward.bootstrap.models import model_config
from steward.bootstrap.platform import place
from steward.bootstrap.rules import WatchedRules
from steward.contract.agent import LifecycleState
from steward.contract.errors import StewardError
from steward.models.embedding import NAME
from steward.models.hosted_embedding import BUILT_IN, hosted_embedder
from steward.providers.containment.plan import UNCONTAINED, Mechanism
from steward.providers.containment.probe import strongest
from steward.providers.mcp_config import load_mcp_config
from steward.providers.tools_config import ToolsFile
from steward.settings import Settings
from steward.storage.keys import PostgresKeyStore
from steward.storage.knowledge import PostgresKnowledgeStore
from steward.storage.postgres import Database, Embedded

LITTLE_SPACE = 500 * 1024**2
PROBE = 64 * 1024  # bytes; quotas and limits show only when something is written


class Verdict(StrEnum):
    GOOD = "ok"
    NOTE = "note"  # works, but worth knowing
    BAD = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    what: str
    verdict: Verdict
    detail: str
    fix: str | None = None


async def diagnose(
    settings: Settings, *, host: str, port: int, running: str | None, away: Mapping[str, str] | None = None
) -> AsyncIterator[Finding]:
    """`running`: the address of this home's Steward; `away`: which of its agents do not run, and why."""
    yield _home(settings)
    yield _disk(settings)
    yield _explained("policy", lambda: _policy(settings))
    yield _explained("servers", lambda: _servers(settings))
    yield _explained("tools", lambda: _tools(settings))
    yield _code(await asyncio.to_thread(strongest))
    database, stored = await _database(settings)
    yield database
    yield _explained("library", lambda: _library(settings, stored))
    yield _model(settings)
    yield _port(host, port, running)
    yield _keys(settings, stored)
    if away is not None:
        yield _agents(away)
    yield await _tracing(settings)


def _explained(what: str, look: Callable[[], Finding]) -> Finding:
    try:
        return look()
    except StewardError as error:
        return Finding(what, Verdict.BAD, error.message, error.fix)


def _home(settings: Settings) -> Finding:
    if not (settings.home / home.MARKER).exists():
        return Finding("home", Verdict.NOTE, f"{settings.home} is not set up yet.", "Run 'steward init'.")
    missing = [name for name in home.REQUIRED if not (settings.home / name).is_file()]
    if missing:
        return Finding(
            "home",
            Verdict.BAD,
            f"{', '.join(missing)} missing in {settings.home}.",
            "Restore it, or run 'steward init'.",
        )
    return Finding("home", Verdict.GOOD, str(settings.home))


def _disk(settings: Settings) -> Finding:
    there = next(folder for folder in (settings.home, *settings.home.parents) if folder.exists())
    free = shutil.disk_usage(there).free
    detail = f"{free / 1024**3:.1f} GiB free"
    try:
        with tempfile.TemporaryFile(dir=there) as probe:
            probe.write(bytes(PROBE))
            probe.flush()
    except OSError as error:
        return Finding("disk", Verdict.BAD, f"{there}: {error.strerror}.", "Free space, or lift the limit.")
    if free < LITTLE_SPACE:
        return Finding("disk", Verdict.BAD, detail, "Free space: the database and the logs need it.")
    return Finding("disk", Verdict.GOOD, detail)


def _policy(settings: Settings) -> Finding:
    rules = WatchedRules(settings.policy_file)()
    return Finding("policy", Verdict.GOOD, f"{len(rules.rules)} rules in policy.toml")


def _servers(settings: Settings) -> Finding:
    if not settings.mcp_file.exists():
        return Finding("servers", Verdict.NOTE, "There is no mcp.json yet.", "Run 'steward init'.")
    config = load_mcp_config(settings.mcp_file)
    detail = f"{len(config.servers)} servers in mcp.json"
    if config.notes:
        return Finding("servers", Verdict.NOTE, " ".join((f"{detail}.", *config.notes)))
    return Finding("servers", Verdict.GOOD, detail)


@dataclass(frozen=True, slots=True)
class Stored:
    """What the database was asked while it was open."""

    keys: int = 0
    unread: int = 0  # passages without vectors of the configured embedder


async def _database(settings: Settings) -> tuple[Finding, Stored | None]:
    """How it is, and what it holds, where it can be asked."""
    kind = "embedded" if settings.database_url is None else "DATABASE_URL"
    try:
        chosen = place(settings)
        if isinstance(chosen, Embedded) and not chosen.folder.exists():
            return Finding(
                "database", Verdict.NOTE, "The embedded PostgreSQL is made on first use."
            ), Stored()
        async with Database(chosen) as database:
            version = await database.fetchval("SHOW server_version")
            keys = len(await PostgresKeyStore(database).list())
            unread = await PostgresKnowledgeStore(database).outdated(_embedder(settings))
    except StewardError as error:
        return Finding("database", Verdict.BAD, f"{kind}: {error.message}", error.fix), None
    return Finding("database", Verdict.GOOD, f"{kind}, PostgreSQL {version}"), Stored(keys, unread)


def _embedder(settings: Settings) -> str:
    chosen = (settings.embedder or BUILT_IN).strip()
    return NAME if chosen == BUILT_IN else chosen


def _library(settings: Settings, stored: Stored | None) -> Finding:
    hosted_embedder(settings.embedder, model_config(settings))  # explains a name that is none
    embedder = _embedder(settings)
    if stored is not None and stored.unread:
        return Finding(
            "library",
            Verdict.NOTE,
            f"{stored.unread} passages have no vectors of {embedder} yet and are found by their words.",
            "The next question or ingest makes them; the former model's are kept.",
        )
    return Finding("library", Verdict.GOOD, f"Documents are read by {embedder}.")


def _model(settings: Settings) -> Finding:
    if settings.model:
        return Finding("model", Verdict.GOOD, settings.model)
    if settings.azure_endpoint and settings.azure_api_key:
        return Finding("model", Verdict.GOOD, f"azure:{settings.azure_deployment}")
    if settings.azure_endpoint or settings.azure_api_key:
        return Finding(
            "model",
            Verdict.BAD,
            "Only one of the Azure variables is set.",
            "Set both AZURE_AI_FOUNDRY_ENDPOINT and AZURE_AI_FOUNDRY_API_KEY, or neither.",
        )
    return Finding("model", Verdict.GOOD, "planner (offline)")


def _tools(settings: Settings) -> Finding:
    file = ToolsFile(settings.tools_folder)
    if not file.path.exists():
        return Finding("tools", Verdict.NOTE, "There is no tools.json yet.", "Run 'steward init'.")
    entries = file.load().tools.values()
    missing = sorted({entry.script for entry in entries if not file.script_of(entry).is_file()})
    if missing:
        return Finding(
            "tools",
            Verdict.BAD,
            f"Scripts are missing: {', '.join(missing)}.",
            f"Put them into {file.folder}, or remove their tools with 'steward tools remove'.",
        )
    return Finding("tools", Verdict.GOOD, f"{len(entries)} Python tool(s)")


_HOLDS = {
    Mechanism.BUBBLEWRAP: "bubblewrap",
    Mechanism.NAMESPACES: "namespaces of its own",
    Mechanism.SEATBELT: "sandbox-exec",
}


def _code(mechanism: Mechanism) -> Finding:
    """What approved code and Python tools are kept to on this machine."""
    if mechanism is Mechanism.NONE:
        return Finding(
            "code", Verdict.NOTE, UNCONTAINED, "Install bubblewrap, or allow user namespaces or Landlock."
        )
    if mechanism is Mechanism.LANDLOCK:
        return Finding(
            "code",
            Verdict.NOTE,
            "Contained by Landlock: Steward's files, other processes and the network are closed; "
            "names in the home's parent folders cannot be listed.",
            "Bubblewrap or user namespaces would contain it without that.",
        )
    return Finding(
        "code",
        Verdict.GOOD,
        f"Contained by {_HOLDS[mechanism]}: Steward's files, other processes and the network are closed.",
    )


def _port(host: str, port: int, running: str | None) -> Finding:
    if running is not None:
        return Finding("port", Verdict.GOOD, f"Steward runs at {running}")
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return Finding(
                "port",
                Verdict.BAD,
                f"{port} on {host}: {error.strerror}.",
                "Use 'steward up --port' with another.",
            )
    return Finding("port", Verdict.GOOD, f"{port} is free")


def _keys(settings: Settings, stored: Stored | None) -> Finding:
    if settings.api_key is not None and len(settings.api_key.get_secret_value()) < 16:
        return Finding("keys", Verdict.BAD, "STEWARD_API_KEY is short.", "Use 16 characters or more.")
    held = ["STEWARD_API_KEY"] if settings.api_key is not None else []
    if stored is not None and stored.keys:
        held.append(f"{stored.keys} made with 'steward keys add'")
    if held:
        return Finding("keys", Verdict.GOOD, f"Whoever connects needs a key: {' and '.join(held)}.")
    if stored is None:
        return Finding("keys", Verdict.NOTE, "The database would know them, and it does not answer.")
    return Finding(
        "keys",
        Verdict.GOOD,
        "There are none: only the owner of this account comes in, by the token in STEWARD_HOME.",
    )


def _agents(away: Mapping[str, str]) -> Finding:
    """One that was stopped on purpose is worth a note; one that failed lacks its tools."""
    if not away:
        return Finding("agents", Verdict.GOOD, "All of them run.")
    stopped = all(why == LifecycleState.STOPPED.value for why in away.values())
    return Finding(
        "agents",
        Verdict.NOTE if stopped else Verdict.BAD,
        "; ".join(f"{name}: {why}" for name, why in away.items()),
        "'steward agents start NAME' starts one; 'steward agents health NAME' says more.",
    )


async def _tracing(settings: Settings) -> Finding:
    endpoint = settings.otlp_address
    if endpoint is None:
        return Finding("tracing", Verdict.NOTE, "Export is off; spans are kept in the home's logs.")
    parts = urlsplit(endpoint if "//" in endpoint else f"//{endpoint}")
    try:
        async with asyncio.timeout(1):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or 4317)
            writer.close()
    except (OSError, TimeoutError):
        return Finding(
            "tracing",
            Verdict.NOTE,
            f"Nobody listens at {endpoint}; spans are kept in the home's logs.",
            "'docker compose up -d' starts Jaeger.",
        )
    return Finding("tracing", Verdict.GOOD, endpoint)
