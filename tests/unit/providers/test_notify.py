"""A waiting call is told about, without its arguments."""

import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.support.receivers import web_receiver

from steward.contract.call import Caller, CallerKind
from steward.contract.errors import UnavailableError
from steward.contract.tool import RiskLevel
from steward.orchestrator.proposals import Proposal
from steward.providers.notify import AllNotifiers, DesktopNotifier, NtfyNotifier, WebhookNotifier

PROPOSAL = Proposal(
    id="p1",
    tool="wipe",
    arguments={"token": "hunter2"},
    digest="d",
    definition_hash="h",
    risk=RiskLevel.IRREVERSIBLE,
    confidence=0.0,
    reason="it cannot be taken back",
    caller=Caller(CallerKind.AGENT, "assistant"),
    user="local",
    utterance=None,
    call_id="c",
    correlation_id="r",
    created_at=datetime(2026, 11, 15, tzinfo=UTC),
)


async def test_a_webhook_gets_what_a_person_needs_to_decide_and_no_argument() -> None:
    async with web_receiver() as receiver:
        await WebhookNotifier(receiver.url).notify(PROPOSAL)
    [posted] = receiver.posted
    assert posted.headers["idempotency-key"] == "p1"
    assert posted.body == {
        "event": "approval_wanted",
        "proposal_id": "p1",
        "tool": "wipe",
        "risk": "irreversible",
        "reason": "it cannot be taken back",
        "caller": "agent assistant",
        "created_at": "2026-11-15T00:00:00+00:00",
        "approve": "steward approve p1",
        "look": "steward proposals",
    }


async def test_a_notification_links_to_the_whole_call_on_the_page_and_to_no_yes() -> None:
    async with web_receiver() as receiver:
        await WebhookNotifier(receiver.url, "https://steward.example.org/").notify(PROPOSAL)
        await NtfyNotifier(f"{receiver.url}/my-topic", "https://steward.example.org").notify(PROPOSAL)
    webhook, ntfy = receiver.posted
    assert webhook.body["page"] == "https://steward.example.org/approvals/p1"
    assert (ntfy.body["topic"], ntfy.body["click"]) == ("my-topic", webhook.body["page"])
    assert "actions" not in ntfy.body
    assert "hunter2" not in str(webhook.body) + str(ntfy.body)


async def test_a_webhook_that_fails_says_so_without_its_address() -> None:
    async with web_receiver() as receiver:
        receiver.answers.append(500)
        with pytest.raises(UnavailableError) as answered:
            await WebhookNotifier(receiver.url).notify(PROPOSAL)
    with pytest.raises(UnavailableError) as unreached:
        await WebhookNotifier("http://127.0.0.1:1/token-hunter2").notify(PROPOSAL)
    assert ("500" in answered.value.message, "hunter2" in unreached.value.message) == (True, False)


async def test_the_desktop_is_told_through_its_own_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = tmp_path / "said"
    program = tmp_path / "notify-send"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {said}\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    await DesktopNotifier().notify(PROPOSAL)
    assert said.read_text().splitlines() == [
        "--",
        "Steward",
        "wipe waits for you: it cannot be taken back. Look with 'steward proposals' or on the page.",
    ]


async def test_a_machine_without_a_desktop_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    await DesktopNotifier().notify(PROPOSAL)


async def test_one_failing_hook_does_not_silence_the_other() -> None:
    async with web_receiver() as receiver:
        both = AllNotifiers([WebhookNotifier("http://127.0.0.1:1/"), WebhookNotifier(receiver.url)])
        with pytest.raises(UnavailableError):
            await both.notify(PROPOSAL)
    assert [posted.body["proposal_id"] for posted in receiver.posted] == ["p1"]
