"""Asking for a person's yes at the terminal.

At a terminal a command that needs consent prompts, showing exactly what would run; `--yes` answers;
anywhere else nothing is assumed and the call keeps waiting.
"""

from typing import Any

import typer

from steward.contract.errors import ErrorCode, StewardError
from steward.surfaces.cli.client import Api, route
from steward.surfaces.cli.output import at_terminal, say, show_json, whole_call


async def settle(api: Api, result: dict[str, Any], *, yes: bool, as_json: bool) -> dict[str, Any]:
    """What became of a call that may wait: approved and run, turned down, or still waiting."""
    if result.get("status") != "pending_approval":
        return result
    proposal_id = str(result["proposal_id"])
    if yes:
        return await _approve(api, result)
    if as_json or not at_terminal():
        return result
    proposal = await api.get(route("proposals", proposal_id))
    describe(proposal, await api.get(route("tools", proposal["tool"])))
    if typer.confirm("Run exactly this?", default=False):
        return await _approve(api, result)
    await api.post(route("proposals", proposal_id, "reject"), {"why": "declined at the terminal"})
    say("Nothing was run.")
    return result | {"status": "failed", "error": "You said no; nothing was run.", "error_code": "REJECTED"}


async def _approve(api: Api, asked: dict[str, Any]) -> dict[str, Any]:
    """A yes of somebody whose role does not cover it leaves the call waiting."""
    try:
        return await api.post(route("proposals", str(asked["proposal_id"]), "approve"), {})
    except StewardError as error:
        if error.code != ErrorCode.FORBIDDEN:
            raise
        say(error.explain(), error=True)
        return asked


def describe(proposal: dict[str, Any], tool: dict[str, Any]) -> None:
    say(f"{proposal['tool']} waits for you ({proposal['risk']}).")
    say(whole_call(proposal))
    if suggested := tool.get("suggested_risk"):
        say(f"Nobody has rated this tool yet. It looks {suggested.replace('_', ' ')}. If you agree, write")
        say(f'into policy.toml:\n\n  [ratings]\n  "{tool["name"]}" = "{suggested}"\n')


def agreed(warning: str, *, verb: str, as_json: bool) -> bool:
    """A person's yes to something that no tool does. `verb`: what would be done."""
    if as_json:
        show_json({"status": "pending_approval", "success": False, "error": f"{warning} Add --yes to do it."})
        return False
    say(warning, error=True)
    nothing = f"Nothing was {verb}d."
    if not at_terminal():
        say(f"  {nothing} Add --yes to do it.", error=True)
        return False
    if typer.confirm(f"{verb.capitalize()}?", default=False):
        return True
    say(nothing)
    return False
