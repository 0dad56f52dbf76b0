"""What `steward doctor` looks at: each part on its own, so that one broken part hides no other.

Owns the checks and their fixes. Changes nothing: a home that was never made is reported, not made.
"""

import asyncio
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from steward.bootstrap.models import model_config
from steward.bootstrap.platform import place, shared_registry
from steward.bootstrap.record import recently_interrupted, told
from steward.bootstrap.rules import WatchedRules
from steward.bootstrap.sharing.shared_registry import SETTLE, SharingStep
from steward.bootstrap.workspace import home
from steward.contract.agent import LifecycleState
from steward.contract.errors import StewardError
from steward.contract.extras import EXTRAS, PACKAGE, missing
from steward.models.embedding import NAME
from steward.models.hosted_embedding import BUILT_IN, hosted_embedder
from steward.providers.containment.plan import UNCONTAINED, Mechanism
from steward.providers.containment.probe import strongest
from steward.providers.mcp.mcp_config import load_mcp_config
from steward.providers.scripts.tools_config import ToolsFile
from steward.settings import Settings
from steward.storage.database.postgres import Database, Embedded
from steward.storage.keys import PostgresKeyStore
from steward.storage.library.documents import PostgresKnowledgeStore
from steward.storage.record import PostgresRecord

LITTLE_SPACE = 500 * 1024**2
MOST_TOLD = 3
PROBE = 64 * 1024  # bytes; quotas and limits show only when something is written


class Verdict(StrEnum):
    GOOD = "ok"
    NOTE = "note"  # works, but worth knowing
    BAD = "problem"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    what: str
    verdict: Verdict
    detail: str
    fix: str | None = None


async def diagnose(
    settings: Settings, *, host: str, port: int, running: str | None, away: Mapping[str, str] | None = None
) -> AsyncIterator[Diagnosis]:
    """`running`: the address of this home's Steward; `away`: which of its agents do not run, and why."""
    yield _home(settings)
    yield _disk(settings)
    yield _explained("policy", lambda: _policy(settings))
    yield _explained("servers", lambda: _servers(settings))
    yield _explained("tools", lambda: _tools(settings))
    yield _code(await asyncio.to_thread(strongest))
    database, stored = await _database(settings)
    yield database
    if stored is not None and stored.differing is not None:
        yield _registry(stored.differing)
    yield _interrupted(stored)
    yield _explained("library", lambda: _library(settings, stored))
    yield _model(settings)
    yield _port(host, port, running)
    yield _keys(settings, stored)
    if away is not None:
        yield _agents(away)
    yield await _tracing(settings)
    yield _extras()


def _explained(what: str, look: Callable[[], Diagnosis]) -> Diagnosis:
    try:
        return look()
    except StewardError as error:
        return Diagnosis(what, Verdict.BAD, error.message, error.fix)


def _home(settings: Settings) -> Diagnosis:
    if not (settings.home / home.MARKER).exists():
        return Diagnosis("home", Verdict.NOTE, f"{settings.home} is not set up yet.", "Run 'steward init'.")
    missing = [name for name in home.REQUIRED if not (settings.home / name).is_file()]
    if missing:
        return Diagnosis(
            "home",
            Verdict.BAD,
            f"{', '.join(missing)} missing in {settings.home}.",
            "Restore it, or run 'steward init'.",
        )
    return Diagnosis("home", Verdict.GOOD, str(settings.home))


def _disk(settings: Settings) -> Diagnosis:
    there = next(folder for folder in (settings.home, *settings.home.parents) if folder.exists())
    free = shutil.disk_usage(there).free
    detail = f"{free / 1024**3:.1f} GiB free"
    try:
        with tempfile.TemporaryFile(dir=there) as probe:
            probe.write(bytes(PROBE))
            probe.flush()
    except OSError as error:
        return Diagnosis("disk", Verdict.BAD, f"{there}: {error.strerror}.", "Free space, or lift the limit.")
    if free < LITTLE_SPACE:
        return Diagnosis("disk", Verdict.BAD, detail, "Free space: the database and the logs need it.")
    return Diagnosis("disk", Verdict.GOOD, detail)


def _policy(settings: Settings) -> Diagnosis:
    rules = WatchedRules(settings.policy_file)()
    return Diagnosis("policy", Verdict.GOOD, f"{len(rules.rules)} rules in policy.toml")


def _servers(settings: Settings) -> Diagnosis:
    if not settings.mcp_file.exists():
        return Diagnosis("servers", Verdict.NOTE, "There is no mcp.json yet.", "Run 'steward init'.")
    config = load_mcp_config(settings.mcp_file)
    detail = f"{len(config.servers)} servers in mcp.json"
    if config.notes:
        return Diagnosis("servers", Verdict.NOTE, " ".join((f"{detail}.", *config.notes)))
    return Diagnosis("servers", Verdict.GOOD, detail)


@dataclass(frozen=True, slots=True)
class Stored:
    """What the database was asked while it was open."""

    keys: int = 0
    interrupted: Sequence[Mapping[str, Any]] = ()  # calls of the last days whose outcome nobody knows
    unread: int = 0  # passages without vectors of the configured embedder
    differing: Sequence[str] | None = None  # files that a person must settle; None: nobody to share with


async def _database(settings: Settings) -> tuple[Diagnosis, Stored | None]:
    """How it is, and what it holds, where it can be asked."""
    kind = "embedded" if settings.database_url is None else "DATABASE_URL"
    try:
        chosen = place(settings)
        if isinstance(chosen, Embedded) and not chosen.folder.exists():
            return Diagnosis(
                "database", Verdict.NOTE, "The embedded PostgreSQL is made on first use."
            ), Stored()
        async with Database(chosen) as database:
            version = await database.fetchval("SHOW server_version")
            keys = len(await PostgresKeyStore(database).list())
            interrupted = (await recently_interrupted(PostgresRecord(database))).items
            unread = await PostgresKnowledgeStore(database).outdated(_embedder(settings))
            differing = await _differing(settings, database)
    except StewardError as error:
        return Diagnosis("database", Verdict.BAD, f"{kind}: {error.message}", error.fix), None
    return Diagnosis("database", Verdict.GOOD, f"{kind}, PostgreSQL {version}"), Stored(
        keys, interrupted, unread, differing
    )


async def _differing(settings: Settings, database: Database) -> Sequence[str] | None:
    if settings.database_url is None or not home.initialised(settings):
        return None
    found = await shared_registry(settings, database).differences()
    return [each.path for each in found if each.step in (SharingStep.CLASH, SharingStep.DIFFERS)]


def _registry(differing: Sequence[str]) -> Diagnosis:
    if differing:
        return Diagnosis(
            "registry", Verdict.BAD, f"Not what the other instances have: {', '.join(differing)}.", SETTLE
        )
    return Diagnosis(
        "registry", Verdict.GOOD, "Tools, servers, policy and skills are what the other instances have."
    )


def _interrupted(stored: Stored | None) -> Diagnosis:
    lines = () if stored is None else stored.interrupted
    if not lines:
        return Diagnosis("record", Verdict.GOOD, "No call was interrupted lately.")
    return Diagnosis(
        "record",
        Verdict.NOTE,
        " ".join(told(line) for line in lines[:MOST_TOLD]),
        f"{len(lines)} interrupted in all: 'steward log --status interrupted'.",
    )


def _embedder(settings: Settings) -> str:
    chosen = (settings.embedder or BUILT_IN).strip()
    return NAME if chosen == BUILT_IN else chosen


def _library(settings: Settings, stored: Stored | None) -> Diagnosis:
    hosted_embedder(settings.embedder, model_config(settings))  # explains a name that is none
    embedder = _embedder(settings)
    if stored is not None and stored.unread:
        return Diagnosis(
            "library",
            Verdict.NOTE,
            f"{stored.unread} passages have no vectors of {embedder} yet and are found by their words.",
            "The next question or ingest makes them; the former model's are kept.",
        )
    return Diagnosis("library", Verdict.GOOD, f"Documents are read by {embedder}.")


def _model(settings: Settings) -> Diagnosis:
    if settings.model:
        return Diagnosis("model", Verdict.GOOD, settings.model)
    if settings.azure_endpoint and settings.azure_api_key:
        return Diagnosis("model", Verdict.GOOD, f"azure:{settings.azure_deployment}")
    if settings.azure_endpoint or settings.azure_api_key:
        return Diagnosis(
            "model",
            Verdict.BAD,
            "Only one of the Azure variables is set.",
            "Set both AZURE_AI_FOUNDRY_ENDPOINT and AZURE_AI_FOUNDRY_API_KEY, or neither.",
        )
    return Diagnosis("model", Verdict.GOOD, "planner (offline)")


def _tools(settings: Settings) -> Diagnosis:
    file = ToolsFile(settings.tools_folder)
    if not file.path.exists():
        return Diagnosis("tools", Verdict.NOTE, "There is no tools.json yet.", "Run 'steward init'.")
    entries = file.load().tools.values()
    missing = sorted({entry.script for entry in entries if not file.script_of(entry).is_file()})
    if missing:
        return Diagnosis(
            "tools",
            Verdict.BAD,
            f"Scripts are missing: {', '.join(missing)}.",
            f"Put them into {file.folder}, or remove their tools with 'steward tools remove'.",
        )
    return Diagnosis("tools", Verdict.GOOD, f"{len(entries)} Python tool(s)")


_HOLDS = {
    Mechanism.BUBBLEWRAP: "bubblewrap",
    Mechanism.NAMESPACES: "namespaces of its own",
    Mechanism.SEATBELT: "sandbox-exec",
}


def _code(mechanism: Mechanism) -> Diagnosis:
    """What approved code and Python tools are kept to on this machine."""
    if mechanism is Mechanism.NONE:
        return Diagnosis(
            "code", Verdict.NOTE, UNCONTAINED, "Install bubblewrap, or allow user namespaces or Landlock."
        )
    if mechanism is Mechanism.LANDLOCK:
        return Diagnosis(
            "code",
            Verdict.NOTE,
            "Contained by Landlock: Steward's files, other processes and the network are closed; "
            "names in the home's parent folders cannot be listed.",
            "Bubblewrap or user namespaces would contain it without that.",
        )
    return Diagnosis(
        "code",
        Verdict.GOOD,
        f"Contained by {_HOLDS[mechanism]}: Steward's files, other processes and the network are closed.",
    )


def _port(host: str, port: int, running: str | None) -> Diagnosis:
    if running is not None:
        return Diagnosis("port", Verdict.GOOD, f"Steward runs at {running}")
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return Diagnosis(
                "port",
                Verdict.BAD,
                f"{port} on {host}: {error.strerror}.",
                "Use 'steward up --port' with another.",
            )
    return Diagnosis("port", Verdict.GOOD, f"{port} is free")


def _keys(settings: Settings, stored: Stored | None) -> Diagnosis:
    if settings.api_key is not None and len(settings.api_key.get_secret_value()) < 16:
        return Diagnosis("keys", Verdict.BAD, "STEWARD_API_KEY is short.", "Use 16 characters or more.")
    held = ["STEWARD_API_KEY"] if settings.api_key is not None else []
    if stored is not None and stored.keys:
        held.append(f"{stored.keys} made with 'steward keys add'")
    if held:
        return Diagnosis("keys", Verdict.GOOD, f"Whoever connects needs a key: {' and '.join(held)}.")
    if stored is None:
        return Diagnosis("keys", Verdict.NOTE, "The database would know them, and it does not answer.")
    return Diagnosis(
        "keys",
        Verdict.GOOD,
        "There are none: only the owner of this account comes in, by the token in STEWARD_HOME.",
    )


def _agents(away: Mapping[str, str]) -> Diagnosis:
    """One that was stopped on purpose is worth a note; one that failed lacks its tools."""
    if not away:
        return Diagnosis("agents", Verdict.GOOD, "All of them run.")
    stopped = all(why == LifecycleState.STOPPED.value for why in away.values())
    return Diagnosis(
        "agents",
        Verdict.NOTE if stopped else Verdict.BAD,
        "; ".join(f"{name}: {why}" for name, why in away.items()),
        "'steward agents start NAME' starts one; 'steward agents health NAME' says more.",
    )


def _extras() -> Diagnosis:
    """Parts that are installed by name."""
    there = [name for name, extra in EXTRAS.items() if extra.installed]
    absent = [name for name in EXTRAS if name not in there]
    detail = f"{', '.join(there) or 'none'} installed"
    if not absent:
        return Diagnosis("extras", Verdict.GOOD, detail)
    return Diagnosis(
        "extras",
        Verdict.NOTE,
        f"{detail}; not {', '.join(f'{name} ({EXTRAS[name].brings})' for name in absent)}.",
        f'pip install "{PACKAGE}[{",".join(absent)}]" adds them.',
    )


async def _tracing(settings: Settings) -> Diagnosis:
    endpoint = settings.otlp_address
    if endpoint is None:
        return Diagnosis("tracing", Verdict.NOTE, "Export is off; spans are kept in the home's logs.")
    if not EXTRAS["otlp"].installed:
        lacking = missing("otlp", f"Sending spans to {endpoint}")
        return Diagnosis(
            "tracing", Verdict.NOTE, f"{lacking.message} Spans are kept in the home's logs.", lacking.fix
        )
    parts = urlsplit(endpoint if "//" in endpoint else f"//{endpoint}")
    try:
        async with asyncio.timeout(1):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or 4317)
            writer.close()
    except (OSError, TimeoutError):
        return Diagnosis(
            "tracing",
            Verdict.NOTE,
            f"Nobody listens at {endpoint}; spans are kept in the home's logs.",
            "'docker compose up -d' starts Jaeger.",
        )
    return Diagnosis("tracing", Verdict.GOOD, endpoint)
