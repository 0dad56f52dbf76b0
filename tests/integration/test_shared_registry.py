"""Homes on one database: what is edited in one becomes what all have, and nothing is lost on the way."""

import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import pytest
from tests.support.waiting import until

from steward.bootstrap.sharing.shared_files import HomeFiles, Mark
from steward.bootstrap.sharing.shared_registry import SharedRegistry, SharingStep
from steward.bootstrap.workspace.home import initialise
from steward.contract.errors import ConfigError
from steward.settings import load_settings
from steward.storage.database.changes import ChangeFeed
from steward.storage.database.postgres import Database
from steward.storage.registry import FileEdit, PostgresRegistry

Home = Callable[..., SharedRegistry]
TRUST = 'trust = ["a"]\n'


@pytest.fixture
def home(tmp_path: Path, database: Database) -> Home:
    """A new home on the database, with these files of its own."""

    def made(name: str, **files: str) -> SharedRegistry:
        folder = tmp_path / name
        if not folder.exists():
            initialise(load_settings(STEWARD_HOME=folder))
        for path, text in files.items():
            write(folder, path, text)
        return SharedRegistry(HomeFiles(folder), PostgresRegistry(database))

    return made


def write(where: SharedRegistry | Path, path: str, text: str) -> None:
    folder = where if isinstance(where, Path) else where.files.home
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text)


def read(where: SharedRegistry, path: str) -> str | None:
    place = where.files.home / path
    return place.read_text() if place.exists() else None


async def joined(home: Home) -> tuple[SharedRegistry, SharedRegistry]:
    one, other = home("one"), home("other")
    await one.open()
    await other.open()
    return one, other


async def test_an_edit_becomes_the_next_version_everywhere(home: Home) -> None:
    one, other = await joined(home)
    write(one, "policy.toml", TRUST)
    write(one, "tools/sub/helper.py", "X = 1\n")
    write(one, "skills/tea/SKILL.md", "---\nname: tea\ndescription: Make tea.\n---\nBoil.\n")
    assert await one.sync() == frozenset()
    taken = await other.sync()
    assert taken == {"policy.toml", "tools/sub/helper.py", "skills/tea/SKILL.md"}
    assert read(other, "policy.toml") == TRUST
    assert read(other, "tools/sub/helper.py") == "X = 1\n"
    assert other.problems() == {}


async def test_what_is_removed_goes_everywhere_but_a_missing_policy_does_not(home: Home) -> None:
    one, other = await joined(home)
    write(one, "tools/a.py", "A = 1\n")
    await one.sync()
    await other.sync()
    (one.files.home / "tools/a.py").unlink()
    (one.files.home / "policy.toml").unlink()
    await one.sync()
    assert await other.sync() == {"tools/a.py"}
    assert read(other, "tools/a.py") is None
    assert read(other, "policy.toml") is not None


async def test_two_edits_of_one_version_stop_and_both_are_shown(home: Home) -> None:
    one, other = await joined(home)
    write(one, "policy.toml", TRUST)
    write(other, "policy.toml", 'trust = ["b"]\n')
    await one.sync()
    await other.sync()
    assert read(other, "policy.toml") == TRUST  # what came first is in force
    assert "steward config diff" in other.problems()["policy.toml"]
    [shown] = await other.differences()
    assert (shown.step, shown.here, shown.there) == (SharingStep.CLASH, b'trust = ["b"]\n', TRUST.encode())
    await one.sync()
    assert one.problems() == {}


@pytest.mark.parametrize(
    ("step", "after"), [(SharingStep.PUSH, 'trust = ["b"]\n'), (SharingStep.PULL, TRUST)]
)
async def test_a_person_settles_two_edits(home: Home, step: SharingStep, after: str) -> None:
    one, other = await joined(home)
    write(one, "policy.toml", TRUST)
    write(other, "policy.toml", 'trust = ["b"]\n')
    await one.sync()
    await other.sync()
    assert await other.decide(step, ()) == ["policy.toml"]
    await one.sync()
    assert (read(one, "policy.toml"), read(other, "policy.toml")) == (after, after)
    assert (one.problems(), other.problems()) == ({}, {})
    assert not (other.files.home / "conflicts").exists()
    if step is SharingStep.PULL:  # what was let go of can still be found
        assert read(other, "replaced/policy.toml") == 'trust = ["b"]\n'


class EditedWhileWritten(HomeFiles):
    """Somebody saves the policy between the moment it was taken over and the moment that is noted."""

    edit: str | None = None

    def mark(self, registry: str, marks: Mapping[str, Mark]) -> None:
        super().mark(registry, marks)
        if self.edit is not None and self.read("policy.toml") == TRUST.encode():
            write(self.home, "policy.toml", self.edit)
            self.edit = None


async def test_an_edit_made_while_another_version_is_taken_over_is_sent(
    home: Home, database: Database
) -> None:
    one, other = await joined(home)
    files = EditedWhileWritten(other.files.home)
    files.edit = 'trust = ["b"]\n'
    other = SharedRegistry(files, PostgresRegistry(database))
    await other.open()

    async def nothing(_: Collection[str]) -> None: ...

    async def arrived() -> bool:
        await one.sync()
        return read(one, "policy.toml") == 'trust = ["b"]\n'

    async with other.followed(ChangeFeed(database), nothing, poll=True):
        write(one, "policy.toml", TRUST)
        await one.sync()
        await until(arrived)
    assert files.edit is None


async def test_edits_of_different_files_do_not_meet(home: Home) -> None:
    one, other = await joined(home)
    write(one, "tools/a.py", "A = 1\n")
    write(other, "tools/b.py", "B = 1\n")
    await one.sync()
    await other.sync()
    await one.sync()
    assert (read(one, "tools/b.py"), read(other, "tools/a.py")) == ("B = 1\n", "A = 1\n")
    assert (one.problems(), other.problems()) == ({}, {})


async def test_a_home_that_starts_out_different_halts_and_names_what_differs(home: Home) -> None:
    await home("one", **{"policy.toml": TRUST, "tools/a.py": "A = 1\n"}).open()
    other = home("other", **{"policy.toml": 'trust = ["b"]\n', "tools/own.py": "O = 1\n"})
    with pytest.raises(ConfigError) as halted:
        await other.open()
    assert halted.value.code == "CONFIG_DIFFERS"
    assert (
        "policy.toml, tools/own.py" in halted.value.message
        or "tools/own.py, policy.toml" in halted.value.message
    )
    assert read(other, "policy.toml") == 'trust = ["b"]\n'


@pytest.mark.parametrize("step", [SharingStep.PUSH, SharingStep.PULL])
async def test_a_home_that_starts_out_different_joins_file_by_file(home: Home, step: SharingStep) -> None:
    one = home("one", **{"policy.toml": TRUST})
    await one.open()
    other = home("other", **{"policy.toml": 'trust = ["b"]\n', "tools/own.py": "O = 1\n"})
    await other.decide(step, ["policy.toml"])
    with pytest.raises(ConfigError):
        await other.open()  # one file is not decided yet
    await other.decide(SharingStep.PUSH, ["tools/own.py"])
    await other.open()
    await one.sync()
    assert (
        read(one, "policy.toml")
        == read(other, "policy.toml")
        == (TRUST if step is SharingStep.PULL else 'trust = ["b"]\n')
    )
    assert read(one, "tools/own.py") == "O = 1\n"


async def test_a_new_home_and_one_that_lost_its_marks_take_what_is_there(home: Home) -> None:
    one, other = await joined(home)
    write(one, "policy.toml", TRUST)
    await one.sync()
    await other.sync()
    write(one, "policy.toml", 'trust = ["c"]\n')
    await one.sync()
    (other.files.home / "shared.json").unlink()  # its policy is an older version: nobody edited it
    await home("other").open()
    await home("third").open()
    assert read(other, "policy.toml") == read(home("third"), "policy.toml") == 'trust = ["c"]\n'


async def test_a_file_that_cannot_be_used_is_not_shared_and_is_named(home: Home) -> None:
    one, other = await joined(home)
    write(one, "mcp.json", "{")
    await one.sync()
    assert await other.sync() == frozenset()
    assert "mcp.json" in one.problems()
    assert json.loads(read(other, "mcp.json") or "") == {"mcpServers": {}}


async def test_a_version_that_this_steward_cannot_read_is_not_taken_and_neither_are_the_rules(
    home: Home, database: Database
) -> None:
    one, _ = await joined(home)
    before = read(one, "policy.toml")
    async with PostgresRegistry(database).alone() as session:  # as a newer Steward may write it
        edits = [
            FileEdit(path="tools/tools.json", content=b'{"tools": [{"new": 1}]}'),
            FileEdit(path="policy.toml", content=TRUST.encode()),
        ]
        await session.push(edits, by="newer")
    await one.sync()
    assert "tools/tools.json" in one.problems()
    assert read(one, "policy.toml") == before


@pytest.mark.parametrize(
    "path", ["../out.py", "/etc/x", "token", "tools/../token", "tools/.hidden", "skills"]
)
async def test_a_path_that_leads_elsewhere_is_never_written(
    home: Home, database: Database, path: str
) -> None:
    one, _ = await joined(home)
    async with PostgresRegistry(database).alone() as session:
        await session.push([FileEdit(path=path, content=b"x")], by="somebody")
    assert await one.sync() == frozenset()
    assert path in one.problems()


async def test_a_secret_travels_as_the_name_that_stands_for_it(
    home: Home, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEATHER_TOKEN", "sk-very-secret")
    one, other = await joined(home)
    server = {"command": "weather", "env": {"TOKEN": "${WEATHER_TOKEN}"}}
    write(one, "mcp.json", json.dumps({"mcpServers": {"weather": server}}))
    await one.sync()
    await other.sync()
    assert "${WEATHER_TOKEN}" in (read(other, "mcp.json") or "")
    kept = await database.fetchval("SELECT string_agg(convert_from(content, 'UTF8'), '') FROM registry_files")
    assert "sk-very-secret" not in kept


async def test_changes_made_one_after_the_other_at_two_homes_do_not_clash(home: Home) -> None:
    one, other = await joined(home)
    async with one.changing():
        write(one, "policy.toml", TRUST)
    async with other.changing():  # begins with the newest version
        write(other, "policy.toml", (read(other, "policy.toml") or "") + "# and more\n")
    await one.sync()
    assert read(one, "policy.toml") == f"{TRUST}# and more\n"
    assert (one.problems(), other.problems()) == ({}, {})


async def test_a_home_with_a_database_of_its_own_shares_with_nobody(tmp_path: Path) -> None:
    initialise(load_settings(STEWARD_HOME=tmp_path))
    alone = SharedRegistry(HomeFiles(tmp_path), None)
    await alone.open()
    async with alone.changing():
        pass
    assert (await alone.sync(), alone.problems()) == (frozenset(), {})
    with pytest.raises(ConfigError):
        await alone.differences()
