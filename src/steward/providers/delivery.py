"""Notices on their way to a person: desktop, webhook, ntfy, e-mail.

Owns the protocols and what an address must look like. Every message carries the notice's id (a webhook's
`Idempotency-Key`, an e-mail's `Message-ID`), so that one that comes twice is known as the same. An address
may hold a token: it is in no error and in no log.
"""

import asyncio
import html
import smtplib
import ssl
from collections.abc import Mapping
from email.message import EmailMessage
from email.utils import parseaddr
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx

from steward.contract.errors import ConfigError, InputError, StewardError, UnavailableError
from steward.contract.showing import in_one_line
from steward.providers.notify import desktop_command, ntfy_parts, shown_on_desktop
from steward.tasks.notices import Medium, Notice, NoticeKind, NoticeSender, payload

SECONDS = 10.0
LONGEST_ADDRESS = 2000
SMTP_PORTS = {"smtp": 587, "smtps": 465}
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_OPENINGS = {
    NoticeKind.REMINDER: "Reminder",
    NoticeKind.SCHEDULE: "Steward",
    NoticeKind.INTERRUPTED: "Interrupted",
}


def headline(notice: Notice) -> str:
    return f"{_OPENINGS[notice.kind]}: {_title(notice)}"[:200]


def _title(notice: Notice) -> str:
    return in_one_line(" ".join(notice.title.split()))


class DesktopSender:
    """The desktop's own `notify-send` or, on macOS, `osascript`; on the machine that runs the job."""

    def check(self, address: str) -> str:
        return address

    async def send(self, notice: Notice, address: str) -> None:
        del address
        # Some desktops read markup in it.
        command = desktop_command(headline(notice), html.escape(notice.text[:1000], quote=False))
        if command is None:
            raise UnavailableError("This machine has neither notify-send nor osascript.", retryable=False)
        if not await shown_on_desktop(command):
            raise UnavailableError("The desktop did not show the notice.")


class WebhookSender:
    def check(self, address: str) -> str:
        return _web_address(address)

    async def send(self, notice: Notice, address: str) -> None:
        await _post(address, payload(notice), what="webhook", headers={"Idempotency-Key": notice.id})


class NtfySender:
    """A topic of an ntfy server: `https://ntfy.sh/TOPIC`, or `https://:TOKEN@…` where it asks for one."""

    def check(self, address: str) -> str:
        _, topic, _ = ntfy_parts(_web_address(address))
        if not topic:
            raise InputError(
                "An ntfy address ends with its topic.", fix="Use one like https://ntfy.sh/my-topic."
            )
        return address

    async def send(self, notice: Notice, address: str) -> None:
        server, topic, token = ntfy_parts(address)
        body = {"topic": topic, "title": headline(notice), "message": notice.text[:4000], "tags": ["bell"]}
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        await _post(server, body, what="ntfy server", headers=headers)


class EmailSender:
    """Over SMTP: `smtp://USER:PASSWORD@HOST:587` (with STARTTLS where offered) or `smtps://…:465`."""

    def __init__(self, server: str | None, sender: str | None) -> None:
        self._server = server
        self._sender = sender

    def check(self, address: str) -> str:
        name, plain = parseaddr(address)
        local, _, domain = plain.rpartition("@")
        if name or plain != address.strip() or not local or not domain or any(c.isspace() for c in plain):
            raise InputError("This is no e-mail address.", fix="Use one like ana@example.org.")
        return plain

    async def send(self, notice: Notice, address: str) -> None:
        if self._server is None:
            raise ConfigError("No SMTP server is configured.", fix="Set STEWARD_SMTP_URL.")
        message = self._message(notice, address)
        await asyncio.to_thread(_over_smtp, self._server, message)

    def _message(self, notice: Notice, address: str) -> EmailMessage:
        message = EmailMessage()
        message["Subject"] = headline(notice)
        message["From"] = self._sender or f"steward@{_domain(address)}"
        message["To"] = address
        message["Date"] = notice.made_at
        message["Message-ID"] = f"<{notice.id}@steward.invalid>"
        message["Auto-Submitted"] = "auto-generated"  # so that no absence note answers it
        message.set_content(f"{_title(notice)}\n\n{notice.text}\n")
        return message


def senders(*, smtp_url: str | None, smtp_from: str | None) -> Mapping[Medium, NoticeSender]:
    return {
        Medium.DESKTOP: DesktopSender(),
        Medium.WEBHOOK: WebhookSender(),
        Medium.NTFY: NtfySender(),
        Medium.EMAIL: EmailSender(smtp_url, smtp_from),
    }


def _domain(address: str) -> str:
    return address.rpartition("@")[2]


def _web_address(address: str) -> str:
    try:
        parts = urlsplit(address)
        usable = (
            parts.scheme in ("http", "https") and bool(parts.hostname) and len(address) <= LONGEST_ADDRESS
        )
    except ValueError:
        usable = False
    if not usable or any(c.isspace() for c in address):
        raise InputError("This is no address of a web server.", fix="Use one that begins with https://.")
    return address


async def _post(address: str, body: Mapping[str, Any], *, what: str, headers: Mapping[str, str]) -> None:
    try:
        async with httpx.AsyncClient(timeout=SECONDS) as client:
            response = await client.post(address, json=body, headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise UnavailableError(f"The {what} was not reached ({type(error).__name__}).") from None
    if response.is_error or response.is_redirect:
        # What it refuses now it refuses again; a busy or broken server may take it later.
        later = response.status_code >= 500 or response.status_code in (408, 429)
        raise UnavailableError(f"The {what} answered {response.status_code}.", retryable=later)


def _over_smtp(server: str, message: EmailMessage) -> None:
    parts = urlsplit(server)
    host, port = parts.hostname or "", parts.port or SMTP_PORTS.get(parts.scheme, 0)
    if not host or not port:
        raise ConfigError(
            "STEWARD_SMTP_URL is no SMTP address.", fix="Use one like smtp://user:password@host:587."
        )
    try:
        with _connected(parts.scheme, host, port) as link:
            if parts.scheme == "smtp" and link.has_extn("starttls"):
                link.starttls(context=ssl.create_default_context())
                link.ehlo()
            elif parts.scheme == "smtp" and parts.username and host not in LOOPBACK:
                raise ConfigError(
                    "The SMTP server offers no encryption, and the password is not sent without.",
                    fix="Use an smtps:// address or a server with STARTTLS.",
                )
            if parts.username:
                link.login(unquote(parts.username), unquote(parts.password or ""))
            link.send_message(message)
    except StewardError:
        raise
    except smtplib.SMTPResponseException as error:
        later = 400 <= error.smtp_code < 500
        raise UnavailableError(f"The SMTP server answered {error.smtp_code}.", retryable=later) from None
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        later = all(400 <= code < 500 for code in codes)
        raise UnavailableError(f"The SMTP server answered {codes[0]}.", retryable=later) from None
    except (smtplib.SMTPException, OSError) as error:
        raise UnavailableError(f"The SMTP server was not reached ({type(error).__name__}).") from None


def _connected(scheme: str, host: str, port: int) -> smtplib.SMTP:
    if scheme == "smtps":
        return smtplib.SMTP_SSL(host, port, timeout=SECONDS, context=ssl.create_default_context())
    link = smtplib.SMTP(host, port, timeout=SECONDS)
    link.ehlo()
    return link
