"""Telling a person that a call waits: a webhook, a desktop notification.

Owns the message, which names the tool, the risk and the reason but never the arguments: those may hold
what must not leave the machine. Nobody can approve where the call is not shown, so the message says where it
is: at the terminal and on the page. A notification that fails is the orchestrator's to log and forget.
"""

import asyncio
import html
import shutil
from collections.abc import Sequence

import httpx

from steward.contract.errors import UnavailableError
from steward.contract.showing import in_one_line
from steward.orchestrator.ports import Notifier
from steward.orchestrator.proposals import Proposal

SECONDS = 5.0


def summary(proposal: Proposal) -> dict[str, str]:
    return {
        "event": "approval_wanted",
        "proposal_id": proposal.id,
        "tool": proposal.tool,
        "risk": proposal.risk.value,
        "reason": in_one_line(proposal.reason),
        "caller": f"{proposal.caller.kind.value} {proposal.caller.id}",
        "created_at": proposal.created_at.isoformat(),
        "approve": f"steward approve {proposal.id}",
        "look": "steward proposals",
    }


class WebhookNotifier:
    def __init__(self, address: str) -> None:
        self._address = address

    async def notify(self, proposal: Proposal) -> None:
        try:
            async with httpx.AsyncClient(timeout=SECONDS) as client:
                response = await client.post(self._address, json=summary(proposal))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            # The address may carry a token: only the kind of failure is passed on.
            raise UnavailableError(f"The webhook was not reached ({type(error).__name__}).") from None
        if response.is_error:
            raise UnavailableError(f"The webhook answered {response.status_code}.")


class DesktopNotifier:
    """Uses the desktop's own `notify-send` or, on macOS, `osascript`; silent where there is neither."""

    async def notify(self, proposal: Proposal) -> None:
        # Some desktops read markup in it.
        reason = html.escape(in_one_line(proposal.reason).rstrip("."), quote=False)
        text = f"{proposal.tool} waits for you: {reason}. Look with 'steward proposals' or on the page."
        command = _desktop_command("Steward", text)
        if command is None:
            return
        process = await asyncio.create_subprocess_exec(
            *command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
        )
        try:
            async with asyncio.timeout(SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


class AllNotifiers:
    def __init__(self, notifiers: Sequence[Notifier]) -> None:
        self._notifiers = tuple(notifiers)

    async def notify(self, proposal: Proposal) -> None:
        answers = await asyncio.gather(
            *(notifier.notify(proposal) for notifier in self._notifiers), return_exceptions=True
        )
        failures = [str(answer) for answer in answers if isinstance(answer, BaseException)]
        if failures:
            raise UnavailableError(" ".join(failures))


def _desktop_command(title: str, text: str) -> tuple[str, ...] | None:
    if sender := shutil.which("notify-send"):
        return (sender, "--", title, text)
    if script := shutil.which("osascript"):
        # The text is an argument of the script, never part of its source.
        source = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
        return (script, "-e", source, title, text)
    return None
