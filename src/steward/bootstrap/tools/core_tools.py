"""The tools that need no server: `save_fact`, `log_to_obsidian`, `calculate`; functions behind the door."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from steward.contract.call import current_call
from steward.contract.errors import ConfigError, ErrorCode
from steward.contract.tool import Effect, Origin, RiskLevel, ToolHints, ToolSpec
from steward.knowledge.facts import FactStore, save_fact
from steward.knowledge.obsidian import Vault, log_to_obsidian
from steward.providers.calculating import calculate_tool
from steward.providers.functions import FunctionTool, LegacyToolAgent

AGENT = "core"
LOCAL_USER = "local"


Wrote = Callable[[Mapping[str, str]], Awaitable[None]]
"""Hears of an entry that was written, and notes how it is taken out again."""


def core_agent(*, facts: FactStore, vault: Path | None, wrote: Wrote) -> LegacyToolAgent:
    return LegacyToolAgent(
        AGENT,
        [_save_fact(facts), _log_to_obsidian(vault, wrote), calculate_tool()],
        name="Steward's own functions",
        capabilities=("facts", "notes", "calculation"),
    )


def _save_fact(facts: FactStore) -> FunctionTool:
    async def save(text: str, source: str | None = None) -> dict[str, Any]:
        call = current_call.get()
        user = (call.user if call else None) or LOCAL_USER
        fact = await save_fact(facts, text, user=user, source=source or "person")
        return {"id": fact.id, "text": fact.text, "created_at": fact.created_at.isoformat()}

    return FunctionTool(
        ToolSpec(
            name="save_fact",
            description="Remember a fact that the person states, word for word. Prefer store_memory for what "
            "is to be found again by meaning.",
            input_schema={
                "type": "object",
                "properties": {
                    "text": {"type": "string", "description": "The fact, as a sentence."},
                    "source": {"type": ["string", "null"], "description": "Where it comes from."},
                },
                "required": ["text"],
                "additionalProperties": False,
            },
            output_schema={
                "type": "object",
                "properties": {name: {"type": "string"} for name in ("id", "text", "created_at")},
                "required": ["id", "text", "created_at"],
            },
            origin=Origin.BUILTIN,
            risk=RiskLevel.REVERSIBLE,
            effect=Effect.WRITES_STORE,
            hints=ToolHints(read_only=False, destructive=False, idempotent=True, open_world=False),
            examples=("Remember that the spare key is at Ana's.",),
            category="memory",
        ),
        save,
    )


def _log_to_obsidian(vault: Path | None, wrote: Wrote) -> FunctionTool:
    async def log(text: str) -> dict[str, str]:
        if vault is None:
            raise ConfigError(
                "No Obsidian vault is configured.",
                code=ErrorCode.CONFIG_MISSING,
                fix="Set STEWARD_OBSIDIAN_VAULT to your vault's folder.",
            )
        now = datetime.now(UTC).astimezone()
        written = await asyncio.to_thread(log_to_obsidian, Vault(vault), text, now=now)
        await wrote(written)
        return written

    return FunctionTool(
        ToolSpec(
            name="log_to_obsidian",
            description="Append an entry to today's note in the person's Obsidian vault. Prefer store_memory "
            "for what Steward itself is to remember.",
            input_schema={
                "type": "object",
                "properties": {"text": {"type": "string", "description": "What to write down."}},
                "required": ["text"],
                "additionalProperties": False,
            },
            output_schema={
                "type": "object",
                "properties": {"note": {"type": "string"}, "entry": {"type": "string"}},
                "required": ["note", "entry"],
            },
            origin=Origin.BUILTIN,
            risk=RiskLevel.REVERSIBLE_WITH_DELAY,
            effect=Effect.WRITES_OUTSIDE,
            hints=ToolHints(read_only=False, destructive=False, idempotent=False, open_world=False),
            examples=("Note in my journal that the boiler was serviced.",),
            category="notes",
            parallel=True,
        ),
        log,
    )
