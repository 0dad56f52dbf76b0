"""Notices over each protocol, to a real receiver that speaks it."""

import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiosmtpd.smtp import AuthResult
from tests.support.receivers import mailbox, web_receiver

from steward.contract.errors import ConfigError, InputError, UnavailableError
from steward.providers.delivery import DesktopSender, EmailSender, NtfySender, WebhookSender, senders
from steward.tasks.notices import Medium, Notice, NoticeKind

AT = datetime(2026, 11, 16, 17, tzinfo=UTC)
NOTICE = Notice(
    id="ab12",
    user_id="ana",
    kind=NoticeKind.REMINDER,
    source="task_a",
    due=AT,
    title="Käse für\nAna",
    text="It is 17:00.",
    made_at=AT,
)


async def test_a_webhook_gets_the_whole_notice_and_its_id() -> None:
    async with web_receiver() as receiver:
        await WebhookSender().send(NOTICE, f"{receiver.url}/hook?k=1")
    posted = receiver.posted[0]
    assert posted.path == "/hook?k=1"
    assert posted.headers["idempotency-key"] == "ab12"
    assert posted.body["task_id"] == "task_a"
    assert (posted.body["event"], posted.body["title"]) == ("reminder", "Käse für\nAna")


@pytest.mark.parametrize(("status", "later"), [(500, True), (429, True), (404, False), (302, False)])
async def test_a_refusing_webhook_is_tried_again_only_where_that_may_help(status: int, later: bool) -> None:
    async with web_receiver() as receiver:
        receiver.answers = [status]
        with pytest.raises(UnavailableError) as failed:
            await WebhookSender().send(NOTICE, receiver.url)
    assert failed.value.retryable is later


async def test_a_webhook_that_is_not_there_is_named_without_its_address() -> None:
    with pytest.raises(UnavailableError) as failed:
        await WebhookSender().send(NOTICE, "http://127.0.0.1:1/secret-token")
    assert "secret-token" not in failed.value.explain()


async def test_ntfy_gets_topic_title_and_message() -> None:
    async with web_receiver() as receiver:
        await NtfySender().send(NOTICE, f"{receiver.url}/my-topic")
    posted = receiver.posted[0]
    assert posted.path == "/"
    assert posted.body["topic"] == "my-topic"
    assert posted.body["title"] == "Reminder: Käse für Ana"
    assert posted.body["message"] == "It is 17:00."


async def test_ntfy_gets_its_token_and_never_as_part_of_the_address() -> None:
    async with web_receiver() as receiver:
        await NtfySender().send(NOTICE, f"http://:tk_1@127.0.0.1:{receiver.port}/prefix/topic")
    assert receiver.posted[0].path == "/prefix/"
    assert receiver.posted[0].headers["authorization"] == "Bearer tk_1"


async def test_an_e_mail_arrives_with_subject_text_and_an_id() -> None:
    async with mailbox() as box:
        sender = EmailSender(f"smtp://127.0.0.1:{box.port}", "steward@example.org")
        await sender.send(NOTICE, "ana@example.org")
    mail = box.mail[0]
    assert box.envelopes == [("steward@example.org", ["ana@example.org"])]
    assert mail["Subject"] == "Reminder: Käse für Ana"
    assert mail["Message-ID"] == "<ab12@steward.invalid>"
    assert mail.get_content().split() == ["Käse", "für", "Ana", "It", "is", "17:00."]


async def test_an_e_mail_is_sent_with_user_and_password() -> None:
    seen: list[tuple[bytes, bytes]] = []

    def check(server: object, session: object, envelope: object, mechanism: str, data: object) -> AuthResult:
        seen.append((data.login, data.password))  # pyright: ignore[reportAttributeAccessIssue]
        return AuthResult(success=True)

    async with mailbox(authenticator=check, auth_require_tls=False) as box:
        await EmailSender(f"smtp://ana:p%40ss@127.0.0.1:{box.port}", None).send(NOTICE, "ana@example.org")
    assert seen == [(b"ana", b"p@ss")]
    assert box.envelopes[0][0] == "steward@example.org"


@pytest.mark.parametrize(("answer", "later"), [("451 busy", True), ("554 no", False)])
async def test_a_refused_e_mail_is_tried_again_only_where_that_may_help(answer: str, later: bool) -> None:
    async with mailbox() as box:
        box.refuses = answer
        with pytest.raises(UnavailableError) as failed:
            await EmailSender(f"smtp://127.0.0.1:{box.port}", None).send(NOTICE, "ana@example.org")
    assert failed.value.retryable is later


async def test_an_smtp_server_that_is_not_there_may_come_back() -> None:
    with pytest.raises(UnavailableError) as failed:
        await EmailSender("smtp://u:secret@127.0.0.1:1", None).send(NOTICE, "ana@example.org")
    assert failed.value.retryable
    assert "secret" not in failed.value.explain()


@pytest.mark.parametrize("server", [None, "smtp://", "mailto:x"])
async def test_without_a_usable_smtp_server_the_setting_is_named(server: str | None) -> None:
    with pytest.raises(ConfigError) as failed:
        await EmailSender(server, None).send(NOTICE, "ana@example.org")
    assert "STEWARD_SMTP_URL" in failed.value.explain()


async def test_the_desktop_shows_it_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "notify-send"
    program.write_text(f'#!/bin/sh\nprintf "%s|" "$@" > {tmp_path}/shown\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    await DesktopSender().send(NOTICE, "")
    assert (tmp_path / "shown").read_text() == "--|Reminder: Käse für Ana|It is 17:00.|"


async def test_a_machine_without_a_desktop_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError) as failed:
        await DesktopSender().send(NOTICE, "")
    assert not failed.value.retryable


@pytest.mark.parametrize(
    ("medium", "address"),
    [
        (Medium.WEBHOOK, "file:///etc/passwd"),
        (Medium.WEBHOOK, "https://"),
        (Medium.WEBHOOK, "https://a b"),
        (Medium.NTFY, "https://ntfy.sh/"),
        (Medium.EMAIL, "ana"),
        (Medium.EMAIL, "Ana <ana@example.org>"),
        (Medium.EMAIL, "ana@example.org\nBcc: x@example.org"),
    ],
)
def test_an_address_that_cannot_be_right_is_refused(medium: Medium, address: str) -> None:
    with pytest.raises(InputError):
        senders(smtp_url=None, smtp_from=None)[medium].check(address)


@pytest.mark.parametrize(
    ("medium", "address"),
    [
        (Medium.WEBHOOK, "https://example.org/h?k=1"),
        (Medium.NTFY, "https://ntfy.sh/topic"),
        (Medium.EMAIL, "ana@example.org"),
        (Medium.DESKTOP, ""),
    ],
)
def test_a_right_address_is_kept_as_it_is(medium: Medium, address: str) -> None:
    assert senders(smtp_url=None, smtp_from=None)[medium].check(address) == address
