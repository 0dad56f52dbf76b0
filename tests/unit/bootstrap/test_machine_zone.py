"""The zone of the person at this machine is the machine's own."""

from pathlib import Path

import pytest

from steward.bootstrap.tools.task_tools import machine_zone


@pytest.fixture(autouse=True)
def no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TZ", raising=False)


def test_it_is_read_from_where_the_clock_is_set(tmp_path: Path) -> None:
    zone = tmp_path / "share" / "zoneinfo" / "Europe" / "Berlin"
    zone.parent.mkdir(parents=True)
    zone.touch()
    (tmp_path / "localtime").symlink_to(zone)
    assert machine_zone(tmp_path / "localtime") == "Europe/Berlin"


def test_a_variable_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", ":Asia/Tokyo")
    assert machine_zone(tmp_path / "localtime") == "Asia/Tokyo"


def test_where_it_cannot_be_told_it_is_utc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Middle/Earth")
    assert machine_zone(tmp_path / "localtime") == "UTC"
