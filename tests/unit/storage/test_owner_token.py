"""The owner's token: made once, for its owner only, and never one that others may know."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from steward.contract.errors import ConfigError
from steward.policy.access import new_token
from steward.storage import owner_token


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        made = owner_token.ensure(tmp_path)
    finally:
        os.umask(before)
    assert mode(tmp_path / "token") == 0o600
    assert (owner_token.ensure(tmp_path), owner_token.read(tmp_path)) == (made, made)
    assert [path.name for path in tmp_path.iterdir()] == ["token"]


def test_programs_that_start_at_once_agree_on_one(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        made = set(threads.map(lambda _: owner_token.ensure(tmp_path), range(8)))
    assert len(made) == 1


@pytest.mark.parametrize("permissions", [0o644, 0o640, 0o604, 0o660])
def test_one_that_others_could_read_is_replaced(tmp_path: Path, permissions: int) -> None:
    seen = new_token()[1]
    (tmp_path / "token").write_text(seen)
    (tmp_path / "token").chmod(permissions)
    assert owner_token.read(tmp_path) is None
    assert owner_token.ensure(tmp_path) != seen
    assert mode(tmp_path / "token") == 0o600


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"local", b"\xff\xfe", b"stw_0123456789ab_short", b"x" * 100_000]
)
def test_one_that_anybody_could_guess_is_replaced(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "token").write_bytes(content)
    (tmp_path / "token").chmod(0o600)
    assert owner_token.read(tmp_path) is None
    assert len(owner_token.ensure(tmp_path)) == len(new_token()[1])


def test_a_link_to_a_token_elsewhere_is_replaced_and_what_it_led_to_stays(tmp_path: Path) -> None:
    planted, home = new_token()[1], tmp_path / "home"
    home.mkdir()
    (tmp_path / "elsewhere").write_text(planted)
    (tmp_path / "elsewhere").chmod(0o600)
    (home / "token").symlink_to(tmp_path / "elsewhere")
    assert owner_token.ensure(home) != planted
    assert ((home / "token").is_symlink(), (tmp_path / "elsewhere").read_text()) == (False, planted)


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "token").mkdir()
    with pytest.raises(ConfigError) as caught:
        owner_token.ensure(tmp_path)
    assert str(tmp_path / "token") in caught.value.message


def test_a_file_system_that_keeps_no_permissions_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner_token.os, "getuid", lambda: 12_345)
    with pytest.raises(ConfigError) as caught:
        owner_token.ensure(tmp_path)
    assert "permissions" in caught.value.explain()
