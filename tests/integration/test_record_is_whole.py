"""What was done to the record is found and named; what was erased with its user is no such thing."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.integration.record_setup import RecordHouse, record_house
from tests.support.recorded import read_lines

from steward.bootstrap.record_check import receipt, verify
from steward.contract.errors import ConfigError, NotFoundError
from steward.orchestrator.proposals import Receipt
from steward.telemetry.chain import KEY_FILE, Signer

CHECK = Path(__file__).parents[2] / "examples" / "check_receipt.py"
YES = Receipt(
    approver="ben",
    approved_at=datetime(2026, 11, 16, tzinfo=UTC),
    via="api",
    arguments={},
    digest="d",
    definition_hash="h",
)


@pytest.fixture
async def house(tmp_path: Path, database_url: str) -> AsyncIterator[RecordHouse]:
    async with record_house(tmp_path / "home", database_url) as house:
        for number in range(3):
            await house.runs(call_id=f"c{number}", user="ana" if number == 1 else "ben", to=f"user {number}")
            await house.keeper.send()
        yield house


async def problems(house: RecordHouse) -> list[tuple[int | None, str | None, str]]:
    return [(each.number, each.call_id, each.what) for each in (await verify(house.keeper)).problems]


async def test_an_untouched_record_is_whole(house: RecordHouse) -> None:
    found = await verify(house.keeper)
    assert (found.problems, found.lines, found.erased) == ([], 6, 0)


async def test_a_line_changed_in_the_database_is_named(house: RecordHouse) -> None:
    await house.database.execute(
        "UPDATE record_lines SET content = replace(content, 'user 1', 'user 9') WHERE number = 3"
    )
    assert (3, "c1", "it was changed") in await problems(house)


async def test_a_line_changed_with_its_digest_is_named(house: RecordHouse) -> None:
    await house.database.execute(
        "UPDATE record_lines SET content = replace(content, 'user 1', 'user 9'), "
        "digest = sha256(salt || convert_to(replace(content, 'user 1', 'user 9'), 'UTF8')) WHERE number = 3"
    )
    assert (3, "c1", "it was changed") in await problems(house)


async def test_a_chain_that_was_made_anew_does_not_fit_its_checkpoints(house: RecordHouse) -> None:
    await house.database.execute("UPDATE record_lines SET link = sha256(link)")
    await house.database.execute("UPDATE record_checkpoints SET link = sha256(link)")
    assert any("not signed by its home" in what for _, _, what in await problems(house))


async def test_a_line_removed_from_the_database_is_named(house: RecordHouse) -> None:
    await house.database.execute("DELETE FROM record_lines WHERE number = 4")
    assert (4, None, "lines 4 to 4 were removed") in await problems(house)


async def test_an_end_that_was_cut_off_with_all_that_spoke_of_it_is_named(house: RecordHouse) -> None:
    for table in ("record_lines", "record_checkpoints"):
        await house.database.execute(f"DELETE FROM {table} WHERE number > 4")
    await house.database.execute(
        "UPDATE record_homes SET length = 4, link = (SELECT link FROM record_lines WHERE number = 4)"
    )
    assert (5, None, "lines 5 to 6 were removed from the end") in await problems(house)


async def test_content_that_was_taken_out_is_not_taken_for_erased(house: RecordHouse) -> None:
    await house.database.execute("UPDATE record_lines SET content = NULL, salt = NULL WHERE number = 3")
    assert (3, "c1", "its content was removed") in await problems(house)


async def test_a_line_hidden_from_lists_is_named(house: RecordHouse) -> None:
    await house.database.execute("UPDATE record_lines SET ended = true WHERE number = 4")
    assert (4, "c1", "it was hidden from lists") in await problems(house)


async def test_a_line_changed_in_its_file_is_named(house: RecordHouse) -> None:
    path = next((house.folder / "logs").glob("executions-*"))
    path.write_bytes(path.read_bytes().replace(b"user 1", b"user 9"))
    assert (None, "c1", "its file and the database differ") in await problems(house)


async def test_a_line_removed_from_its_file_is_named(house: RecordHouse) -> None:
    path = next((house.folder / "logs").glob("executions-*"))
    kept = [line for line in path.read_bytes().splitlines(keepends=True) if b'"c1"' not in line]
    inode = path.stat().st_ino
    with path.open("r+b") as file:
        file.write(b"".join(kept))
        file.truncate()
    assert path.stat().st_ino == inode
    assert (None, "c1", "it was removed from its file") in await problems(house)


async def test_what_the_files_still_have_comes_back_to_an_emptied_database(house: RecordHouse) -> None:
    await house.database.execute("DELETE FROM record_homes")
    found = await verify(house.keeper)
    assert (found.problems, found.lines) == ([], 6)


async def test_erasing_a_user_leaves_the_chain_whole_and_nothing_of_what_they_said(
    house: RecordHouse,
) -> None:
    await house.keeper.erase("ana")
    found = await verify(house.keeper)
    left = (house.folder / "logs").glob("*")
    stored = await house.database.fetch("SELECT record_lines::text AS row FROM record_lines")
    assert (found.problems, found.erased) == ([], 2)
    assert not any(b"user 1" in path.read_bytes() or b"ana" in path.read_bytes() for path in left)
    assert not any("user 1" in row["row"] or "ana" in row["row"] for row in stored)


async def test_what_was_erased_is_listed_as_that(house: RecordHouse) -> None:
    await house.keeper.erase("ana")
    items = (await house.keeper.list(tool="send")).items
    assert [(item["call_id"], item.get("erased", False)) for item in items] == [
        ("c2", False),
        ("c1", True),
        ("c0", False),
    ]


async def test_another_home_wipes_its_files_of_what_was_erased_here(
    house: RecordHouse, tmp_path: Path, database_url: str
) -> None:
    async with record_house(tmp_path / "other", database_url) as other:
        await other.runs(call_id="c9", user="ana", to="user 9")
        await other.keeper.send()
        await house.keeper.erase("ana")
        await other.keeper.settle()
        assert [line.get("erased") for line in read_lines(other.folder / "logs").items] == [True, True]
        assert (await verify(other.keeper)).problems == []


async def test_the_key_is_for_its_owner_only_and_stays_the_same(house: RecordHouse) -> None:
    assert (house.folder / KEY_FILE).stat().st_mode & 0o777 == 0o600
    assert Signer(house.folder).home == house.keeper.signer.home


def test_a_broken_key_is_explained(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).write_text("nonsense")
    with pytest.raises(ConfigError) as caught:
        _ = Signer(tmp_path).home
    assert "is not a key" in caught.value.message


# --- receipts ---------------------------------------------------------------------------------------


def check(path: Path, *options: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, str(CHECK), str(path), *options], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout


@pytest.fixture
async def exported(house: RecordHouse, tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    house.ends(await house.begins("drop", call_id="c7", receipt=YES, table="users"), receipt=YES)
    await house.runs(call_id="c8")
    made = await receipt(house.keeper, "c7")
    path = tmp_path / "receipt.json"
    path.write_text(json.dumps(made))
    return path, made


def test_a_receipt_is_checked_without_steward(exported: tuple[Path, dict[str, Any]]) -> None:
    code, said = check(exported[0])
    assert (code, said.count("ok: ")) == (0, 2)
    assert "drop done, approved by ben" in said


def test_a_receipt_of_another_home_is_told(exported: tuple[Path, dict[str, Any]]) -> None:
    code, said = check(exported[0], "--home", "0" * 32)
    assert (code, "another home signed it" in said) == (1, True)


@pytest.mark.parametrize("part", ["content", "salt", "before", "number", "public_key"])
def test_a_changed_receipt_is_told(exported: tuple[Path, dict[str, Any]], part: str) -> None:
    path, made = exported
    line = made["lines"][0]
    changed = {
        "content": line["content"].replace("users", "userz"),
        "number": line["number"] + 1,
    }.get(part) or line[part].translate(str.maketrans("0123456789abcdef", "123456789abcdef0"))
    path.write_text(json.dumps(made | {"lines": [line | {part: changed}]}))
    assert check(path)[0] == 1


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "steward-receipt-1", "lines": []}'])
def test_what_is_no_receipt_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "receipt.json"
    path.write_text(text)
    assert check(path)[0] == 1


async def test_there_is_no_receipt_of_what_was_never_called(house: RecordHouse) -> None:
    with pytest.raises(NotFoundError):
        await receipt(house.keeper, "nowhere")


async def test_nobody_gets_the_receipt_of_somebody_else(house: RecordHouse) -> None:
    with pytest.raises(NotFoundError):
        await receipt(house.keeper, "c0", owner="ana")
