"""Telling a person that a call waits: a webhook, a topic of an ntfy server, a desktop notification.

Owns the message, which names the tool, the risk and the reason but never the arguments: those may hold
what must not leave the machine. Nobody can approve where the call is not shown, so the message says where it
is: at the terminal and on the page, with a link where the phone reaches it. The link opens nothing by itself:
the yes needs a browser that is signed in. A notification that fails is the orchestrator's to log and forget.
"""

import asyncio
import html
import shutil
from collections.abc import Sequence
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import httpx

from steward.contract.errors import UnavailableError
from steward.contract.showing import in_one_line
from steward.orchestrator.ports import Notifier
from steward.orchestrator.proposals import Proposal

SECONDS = 5.0


def link_to(proposal: Proposal, page_url: str | None) -> str | None:
    """Where the page shows the whole call."""
    return None if page_url is None else f"{page_url.rstrip('/')}/approvals/{quote(proposal.id)}"


def summary(proposal: Proposal, page_url: str | None = None) -> dict[str, str]:
    link = link_to(proposal, page_url)
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
        **({} if link is None else {"page": link}),
    }


class WebhookNotifier:
    def __init__(self, address: str, page_url: str | None = None) -> None:
        self._address = address
        self._page_url = page_url

    async def notify(self, proposal: Proposal) -> None:
        told = summary(proposal, self._page_url)
        try:
            async with httpx.AsyncClient(timeout=SECONDS) as client:
                # Known by its id when it comes twice, as reminders are.
                response = await client.post(
                    self._address, json=told, headers={"Idempotency-Key": proposal.id}
                )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            # The address may carry a token: only the kind of failure is passed on.
            raise UnavailableError(f"The webhook was not reached ({type(error).__name__}).") from None
        if response.is_error:
            raise UnavailableError(f"The webhook answered {response.status_code}.")


class NtfyNotifier:
    """A topic that is only written to: nobody can answer there, so nothing said there is a yes."""

    def __init__(self, address: str, page_url: str | None = None) -> None:
        self._address = address
        self._page_url = page_url

    async def notify(self, proposal: Proposal) -> None:
        server, topic, token = ntfy_parts(self._address)
        link = link_to(proposal, self._page_url)
        reason = in_one_line(proposal.reason)
        where = "Open it to see the whole call." if link else f"Look with 'steward approve {proposal.id}'."
        message: dict[str, object] = {
            "topic": topic,
            "title": f"{proposal.tool} waits for you",
            "message": f"{reason} {where}",
            "tags": ["lock"],
        }
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        if link is not None:
            message["click"] = link
        try:
            async with httpx.AsyncClient(timeout=SECONDS) as client:
                response = await client.post(server, json=message, headers=headers)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise UnavailableError(f"The ntfy server was not reached ({type(error).__name__}).") from None
        if response.is_error:
            raise UnavailableError(f"The ntfy server answered {response.status_code}.")


def ntfy_parts(address: str) -> tuple[str, str, str | None]:
    """Server, topic, token. A user name with its password stays in the server's address."""
    parts = urlsplit(address)
    path, _, topic = parts.path.rstrip("/").rpartition("/")
    bare = parts.netloc.rpartition("@")[2]
    token = unquote(parts.password) if parts.password and not parts.username else None
    return (
        urlunsplit((parts.scheme, parts.netloc if token is None else bare, f"{path}/", "", "")),
        topic,
        token,
    )


class DesktopNotifier:
    """Uses the desktop's own `notify-send` or, on macOS, `osascript`; silent where there is neither."""

    async def notify(self, proposal: Proposal) -> None:
        # Some desktops read markup in it.
        reason = html.escape(in_one_line(proposal.reason).rstrip("."), quote=False)
        text = f"{proposal.tool} waits for you: {reason}. Look with 'steward proposals' or on the page."
        command = desktop_command("Steward", text)
        if command is not None:
            await shown_on_desktop(command)


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


async def shown_on_desktop(command: Sequence[str]) -> bool:
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(SECONDS):
            return await process.wait() == 0
    except TimeoutError:
        process.kill()
        await process.wait()
        return False


def desktop_command(title: str, text: str) -> tuple[str, ...] | None:
    if sender := shutil.which("notify-send"):
        return (sender, "--", title, text)
    if script := shutil.which("osascript"):
        # The text is an argument of the script, never part of its source.
        source = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
        return (script, "-e", source, title, text)
    return None
