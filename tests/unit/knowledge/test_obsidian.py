"""A daily note takes every line whole, and no name leads out of the vault."""

import multiprocessing
import os
import resource
import signal
from datetime import datetime
from pathlib import Path

import pytest

from steward.contract.errors import ConfigError, InputError, StorageError
from steward.knowledge.obsidian import Vault, log_to_obsidian

NOW = datetime(2026, 11, 15, 9, 30).astimezone()


@pytest.mark.req("ORC-FR-010", "ORC-US3.2")
def test_entries_are_appended_to_the_days_note(tmp_path: Path) -> None:
    first = log_to_obsidian(Vault(tmp_path), "Boiler serviced\nby Max", now=NOW)
    log_to_obsidian(Vault(tmp_path), "Paid", now=NOW)
    assert first == {"note": "Daily/2026-11-15.md", "entry": "- 09:30 Boiler serviced\n  by Max"}
    assert (tmp_path / "Daily" / "2026-11-15.md").read_text() == (
        "# 2026-11-15\n\n- 09:30 Boiler serviced\n  by Max\n- 09:30 Paid\n"
    )


@pytest.mark.parametrize("folder", ["../out", "a/../../b", "/etc", "", "x" * 101, "a\0b"])
def test_a_folder_that_leads_out_of_the_vault_is_refused(tmp_path: Path, folder: str) -> None:
    (tmp_path / "vault").mkdir()
    with pytest.raises(ConfigError):
        log_to_obsidian(Vault(tmp_path / "vault", folder), "x", now=NOW)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["vault"]


def test_a_linked_folder_or_note_does_not_lead_out_either(tmp_path: Path) -> None:
    vault, outside = tmp_path / "vault", tmp_path / "outside"
    vault.mkdir()
    outside.mkdir()
    (vault / "Linked").symlink_to(outside)
    with pytest.raises(InputError) as caught:
        log_to_obsidian(Vault(vault, "Linked"), "x", now=NOW)
    (vault / "Daily").mkdir()
    (vault / "Daily" / "2026-11-15.md").symlink_to(outside / "target.md")
    with pytest.raises((InputError, StorageError)):
        log_to_obsidian(Vault(vault), "x", now=NOW)
    assert (caught.value.code, list(outside.iterdir())) == ("FORBIDDEN", [])


@pytest.mark.parametrize("text", ["", "  \n ", "\0", "x" * 20_001])
def test_nothing_or_too_much_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError):
        log_to_obsidian(Vault(tmp_path), text, now=NOW)
    assert list(tmp_path.iterdir()) == []


def test_a_vault_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        log_to_obsidian(Vault(tmp_path / "gone"), "x", now=NOW)
    assert caught.value.code == "CONFIG_MISSING"


def _write_many(root: Path, name: str) -> None:
    for number in range(50):
        log_to_obsidian(Vault(root), f"{name}{number}\nsecond line of {name}{number}", now=NOW)


def test_writers_in_several_processes_never_tear_each_others_lines(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_many, args=(tmp_path, name)) for name in "abc"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    lines = (tmp_path / "Daily" / "2026-11-15.md").read_text().splitlines()[2:]
    pairs = {(first, second) for first, second in zip(lines[::2], lines[1::2], strict=True)}
    assert pairs == {
        (f"- 09:30 {name}{number}", f"  second line of {name}{number}")
        for name in "abc"
        for number in range(50)
    }


def test_a_full_disk_leaves_the_note_as_it_was(tmp_path: Path) -> None:
    log_to_obsidian(Vault(tmp_path), "kept", now=NOW)
    note = tmp_path / "Daily" / "2026-11-15.md"
    before = note.read_text()
    child = os.fork()
    if child == 0:  # pragma: no cover - runs in the child
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, len(before) + 10))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        try:
            log_to_obsidian(Vault(tmp_path), "y" * 1000, now=NOW)
        except StorageError:
            os._exit(7)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert (os.waitstatus_to_exitcode(status), note.read_text()) == (7, before)
