import os
import subprocess
import sys
from pathlib import Path

import pytest

from steward.bootstrap.workspace import leftovers
from steward.settings import Settings, load_settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "code").mkdir()
    (tmp_path / "uploads" / "papers").mkdir(parents=True)
    return load_settings(STEWARD_HOME=tmp_path)


@pytest.fixture
def dead() -> int:
    """The id of a process that is gone."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def left(settings: Settings, *names: str) -> list[str]:
    for name in names:
        (settings.home / name).write_text("x")
    leftovers.sweep(settings)
    return [name for name in names if (settings.home / name).exists()]


def test_what_a_killed_process_left_is_swept(settings: Settings, dead: int) -> None:
    old = (f"code/.program-{dead}-0123abcd", f"uploads/papers/.{dead}-abcd_123", "code/.program-0123abcd")
    assert left(settings, *old) == []


def test_what_a_living_process_uses_stays(settings: Settings) -> None:
    name = f"code/.program-{os.getpid()}-0123abcd"
    assert left(settings, name) == [name]


def test_what_people_keep_there_stays(settings: Settings, dead: int) -> None:
    kept = ("code/result.csv", "uploads/papers/one.pdf", f"code/{dead}-0123abcd", "uploads/papers/.hidden")
    assert left(settings, *kept) == list(kept)


def test_a_home_without_these_folders_has_nothing_to_sweep(tmp_path: Path) -> None:
    leftovers.sweep(load_settings(STEWARD_HOME=tmp_path / "new"))
    assert not (tmp_path / "new").exists()
