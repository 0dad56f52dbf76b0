"""The recorded calls against an edited policy: which decisions would change, before it is saved.

Owns the reading of the record and the counting. The decisions are the policy's own, by the rules in force and
by the edited ones, on the arguments as the record has them: secrets are masked there.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from steward.bootstrap.paths import real_path
from steward.bootstrap.platform import Platform
from steward.policy.replay import RecordedCall, Ruling
from steward.policy.rules import Rules

MOST_CALLS = 10_000
PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedRuling:
    """Calls of one tool whose decision changes alike; the latest of them stands for all."""

    tool: str
    user: str | None
    before: Ruling
    after: Ruling
    why: str
    times: int
    at: str
    call_id: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    calls: int
    gone: int  # calls of tools that are not there any more
    changes: Sequence[ChangedRuling]


async def replay(platform: Platform, text: str, *, since: datetime | None, limit: int) -> Replay:
    """`text` is the edited policy.toml; it is not written anywhere."""
    edited = platform.rules.parse(text)
    lines: list[Mapping[str, Any]] = []
    after: str | None = None
    while len(lines) < limit:
        page = await platform.record.list(since=since, limit=min(PAGE, limit - len(lines)), after=after)
        lines += page.items
        after = page.next
        if after is None:
            break
    return await asyncio.to_thread(_compare, platform, edited, lines)


def _compare(platform: Platform, edited: Rules, lines: Sequence[Mapping[str, Any]]) -> Replay:
    resolve, gone = real_path(platform.settings.ingestible), 0
    found: dict[tuple[object, ...], ChangedRuling] = {}
    for line in lines:
        call = _recorded(platform, line)
        if call is None:
            gone += 1
            continue
        before, _ = call.ruling(platform.rules.known, resolve=resolve)
        after, why = call.ruling(edited, resolve=resolve)
        if before is after:
            continue
        key = (call.spec.name, call.user, before, after)
        latest = found.get(key) or ChangedRuling(
            tool=call.spec.name,
            user=call.user,
            before=before,
            after=after,
            why=why,
            times=0,
            at=str(line["at"]),
            call_id=str(line["call_id"]),
            arguments=call.arguments,
        )
        found[key] = replace(latest, times=latest.times + 1)
    return Replay(calls=len(lines), gone=gone, changes=list(found.values()))


def _recorded(platform: Platform, line: Mapping[str, Any]) -> RecordedCall | None:
    """None where the tool, or what went into it, is not there any more."""
    tool = platform.orchestrator.registry.find(str(line["tool"]))
    arguments = line.get("arguments")
    if tool is None or not isinstance(arguments, dict) or line.get("erased"):
        return None
    user = line.get("user")
    return RecordedCall(
        spec=tool.spec,
        arguments=cast("dict[str, Any]", arguments),
        user=None if user is None else str(user),
        confidence=float(line.get("confidence") or 0.0),
        asks_always=tool.agent_requires_approval,
    )
