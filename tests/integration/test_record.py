"""The record from a home's files to every instance: once, whole, and with what a kill left open."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.integration.record_setup import RecordHouse, record_house
from tests.support.recorded import read_lines

from steward.bootstrap.record_check import verify
from steward.contract.call import Caller, CallerKind, Done, Failed, PendingApproval, ToolCall
from steward.contract.errors import ErrorCode, InputError
from steward.contract.tool import RiskLevel
from steward.orchestrator.proposals import Finished, Proposal, Receipt
from steward.storage.database.migrate import read_migrations
from steward.storage.proposals import PostgresProposalStore


@pytest.fixture
async def house(tmp_path: Path, database_url: str) -> AsyncIterator[RecordHouse]:
    async with record_house(tmp_path / "home", database_url) as house:
        yield house


async def test_a_call_is_one_item_with_what_went_in_and_what_came_out(house: RecordHouse) -> None:
    await house.runs(call_id="c1", to="ben")
    (item,) = (await house.keeper.list()).items
    assert (item["status"], item["arguments"], item["output"]) == ("done", {"to": "ben"}, "sent")


async def test_a_call_that_runs_is_shown_as_running(house: RecordHouse) -> None:
    await house.begins("send", call_id="c1")
    assert await house.listed() == [("c1", "running")]


async def test_a_call_that_waited_and_ran_is_shown_as_both(house: RecordHouse) -> None:
    call = ToolCall(tool="send", arguments={}, caller=Caller(CallerKind.PERSON, "ana"), call_id="c1")
    waits = PendingApproval(proposal_id="p1", reason="it sends", risk=RiskLevel.IRREVERSIBLE)
    house.ends(call, waits, begun=False)
    await house.runs(call_id="c1")
    assert await house.listed() == [("c1", "done"), ("c1", "pending_approval")]


async def test_lines_are_found_by_tool_status_time_correlation_and_user(house: RecordHouse) -> None:
    await house.runs("send", call_id="c1")
    house.ends(await house.begins("drop", call_id="c2", user="ben"), Failed(error="no"))
    later = datetime.now(UTC) + timedelta(hours=1)
    assert await house.listed(tool="send") == [("c1", "done")]
    assert await house.listed(status="failed") == [("c2", "failed")]
    assert await house.listed(correlation_id="turn of c1") == [("c1", "done")]
    assert await house.listed(owner="ben") == [("c2", "failed")]
    assert await house.listed(since=later) == []


@pytest.mark.parametrize("limit", [1, 3, 7])
async def test_pages_follow_each_other_without_gap_or_repetition(house: RecordHouse, limit: int) -> None:
    for number in range(7):
        await house.runs(call_id=f"c{number}")
    seen: list[str] = []
    after = None
    while True:
        page = await house.keeper.list(limit=limit, after=after)
        seen += [item["call_id"] for item in page.items]
        after = page.next
        if after is None:
            break
    assert seen == [f"c{number}" for number in range(6, -1, -1)]


@pytest.mark.parametrize("after", ["x", "MjAyNi0xMS0xNVQwMDowMDowMCswMDowMCB4", ""])
async def test_a_made_up_place_is_refused(house: RecordHouse, after: str) -> None:
    with pytest.raises(InputError):
        await house.keeper.list(after=after)


async def test_what_a_killed_program_left_in_its_files_is_sent_by_the_next(
    tmp_path: Path, database_url: str
) -> None:
    async with record_house(tmp_path / "home", database_url) as killed:
        await killed.runs(call_id="c1")
        await killed.keeper.send()
        await killed.runs(call_id="c2")
        async with record_house(tmp_path / "home", database_url) as house:
            found = await house.listed()
            whole = await verify(house.keeper)
    assert (found, whole.problems, whole.lines) == ([("c2", "done"), ("c1", "done")], [], 4)


async def test_programs_of_one_home_send_each_line_once(tmp_path: Path, database_url: str) -> None:
    async with (
        record_house(tmp_path / "home", database_url) as one,
        record_house(tmp_path / "home", database_url) as other,
    ):
        for number in range(20):
            await (one if number % 2 else other).runs(call_id=f"c{number}")
        await asyncio.gather(*(house.keeper.send() for house in (one, other, one, other)))
        found = await verify(one.keeper)
    assert (found.problems, found.lines) == ([], 40)


async def test_every_instance_reads_what_another_home_recorded(tmp_path: Path, database_url: str) -> None:
    async with (
        record_house(tmp_path / "one", database_url) as one,
        record_house(tmp_path / "other", database_url) as other,
    ):
        await one.runs(call_id="c1")
        await one.keeper.send()
        await other.runs(call_id="c2")
        found = await other.listed()
        homes = (await verify(other.keeper)).homes
    assert (found, len(homes)) == ([("c2", "done"), ("c1", "done")], 2)


async def test_a_copy_of_a_home_adds_its_own_lines_and_repeats_none(
    tmp_path: Path, database_url: str
) -> None:
    async with record_house(tmp_path / "home", database_url) as house:
        await house.runs(call_id="c1")
    shutil.copytree(tmp_path / "home", tmp_path / "copy")
    async with record_house(tmp_path / "copy", database_url) as copy:
        await copy.runs(call_id="c2")
        assert await copy.listed() == [("c2", "done"), ("c1", "done")]


async def test_a_line_that_is_still_being_written_comes_next_time(house: RecordHouse) -> None:
    await house.runs(call_id="c1")
    path = next((house.folder / "logs").glob("executions-*"))
    with path.open("ab") as file:
        file.write(b'{"at": "2026-')
        file.flush()
        await house.keeper.send()
        file.write(b'11-16T00:00:00+00:00", "tool": "x", "status": "done", "call_id": "c2"}\n')
    await house.keeper.send()
    assert ("c2", "done") in await house.listed()


async def test_garbage_in_a_file_holds_nothing_up(house: RecordHouse) -> None:
    await house.runs(call_id="c1")
    with next((house.folder / "logs").glob("executions-*")).open("ab") as file:
        file.write(b'\n\nnot json\n[1]\n\xff\xfe\n{}\n{"at": 3, "tool": "a\\u0000b", "call_id": 7}\n')
    await house.runs(call_id="c2")
    assert await house.listed(tool="send") == [("c2", "done"), ("c1", "done")]
    assert (await verify(house.keeper)).problems == []


async def test_a_call_whose_program_is_gone_is_written_down_as_interrupted(
    house: RecordHouse, tmp_path: Path, database_url: str
) -> None:
    await house.begins("send", call_id="c1", to="ben")
    await house.keeper.send()
    await house.database.execute("DELETE FROM programs")
    async with record_house(tmp_path / "other", database_url) as other:
        (told,) = other.keeper.found
        (item,) = (await other.keeper.list()).items
    assert (told["call_id"], told["code"]) == ("c1", ErrorCode.OUTCOME_UNKNOWN)
    assert (item["status"], item["arguments"], item["outcome_unknown"]) == (
        "interrupted",
        {"to": "ben"},
        True,
    )


async def test_a_record_is_whole_where_homes_write_down_each_others_interruptions(
    house: RecordHouse, tmp_path: Path, database_url: str
) -> None:
    """Both ways round: chains are read one after another, and either may hold the end of the other's call."""
    await house.begins("send", call_id="c1")
    await house.keeper.send()
    await house.database.execute("DELETE FROM programs")
    async with record_house(tmp_path / "other", database_url) as other:
        await other.begins("send", call_id="c2")
        await other.keeper.send()
        await house.database.execute("DELETE FROM programs")
        await house.keeper.settle()
        assert sorted(await house.listed()) == [("c1", "interrupted"), ("c2", "interrupted")]
        assert (await verify(house.keeper)).problems == []


async def test_an_outcome_that_comes_after_all_replaces_the_interruption(
    house: RecordHouse, tmp_path: Path, database_url: str
) -> None:
    call = await house.begins("send", call_id="c1")
    await house.keeper.send()
    await house.database.execute("DELETE FROM programs")
    async with record_house(tmp_path / "other", database_url):
        house.ends(call)
        assert await house.listed() == [("c1", "done")]


async def test_a_call_of_a_living_program_is_not_interrupted(
    house: RecordHouse, tmp_path: Path, database_url: str
) -> None:
    await house.begins("send", call_id="c1")
    await house.keeper.send()
    async with record_house(tmp_path / "other", database_url) as other:
        assert other.keeper.found == []
        assert await other.listed() == [("c1", "running")]


@pytest.mark.parametrize(
    "jumped", [timedelta(), timedelta(hours=2)], ids=["", "after the clock was set back"]
)
async def test_an_outcome_that_did_not_reach_its_proposal_is_stored_from_the_record(
    house: RecordHouse, tmp_path: Path, database_url: str, jumped: timedelta
) -> None:
    store = PostgresProposalStore(house.database)
    now = datetime.now(UTC) + jumped
    yes = Receipt(approver="ben", approved_at=now, via="api", arguments={}, digest="d", definition_hash="h")
    waiting = Proposal(
        id="p1", tool="send", arguments={}, digest="d", definition_hash="h", risk=RiskLevel.IRREVERSIBLE,
        confidence=0.0, reason="sends", caller=Caller(CallerKind.PERSON, "ana"), user=None, utterance=None,
        call_id="c1", correlation_id="r", created_at=now,
    )  # fmt: skip
    await store.add(waiting)
    await store.claim("p1", yes)
    await house.runs(call_id="c1")
    await house.keeper.send()
    await house.database.execute("DELETE FROM programs")
    async with record_house(tmp_path / "other", database_url) as other:
        found = await PostgresProposalStore(other.database).get("p1")
    assert found is not None
    assert isinstance(found.state, Finished)
    assert (found.state.result["status"], found.state.result["data"]) == ("done", "sent")


async def test_an_approved_call_that_failed_before_it_ran_is_told_as_failed_though_its_program_died(
    house: RecordHouse, tmp_path: Path, database_url: str
) -> None:
    store = PostgresProposalStore(house.database)
    now = datetime.now(UTC)
    yes = Receipt(approver="ben", approved_at=now, via="api", arguments={}, digest="d", definition_hash="h")
    by = Caller(CallerKind.PERSON, "ana")
    await store.add(
        Proposal(
            id="p1", tool="send", arguments={}, digest="d", definition_hash="h", risk=RiskLevel.IRREVERSIBLE,
            confidence=0.0, reason="sends", caller=by, user=None, utterance=None, call_id="c1",
            correlation_id="r", created_at=now,
        )
    )  # fmt: skip
    await store.claim("p1", yes)
    call = ToolCall(tool="send", arguments={}, caller=by, call_id="c1")
    house.ends(call, Failed(error="Its server is away."), begun=False, receipt=yes)
    await house.keeper.send()
    await house.database.execute("DELETE FROM programs")
    async with record_house(tmp_path / "other", database_url) as other:
        found = await PostgresProposalStore(other.database).get("p1")
    assert found is not None
    assert isinstance(found.state, Finished)
    assert (found.state.result["status"], found.state.result["error"]) == ("failed", "Its server is away.")


async def test_an_approved_call_whose_program_was_gone_before_its_line_is_announced_once(
    house: RecordHouse, tmp_path: Path, database_url: str
) -> None:
    store = PostgresProposalStore(house.database)
    now = datetime.now(UTC)
    yes = Receipt(approver="ben", approved_at=now, via="api", arguments={}, digest="d", definition_hash="h")
    waiting = Proposal(
        id="p1", tool="send", arguments={}, digest="d", definition_hash="h", risk=RiskLevel.IRREVERSIBLE,
        confidence=0.0, reason="sends", caller=Caller(CallerKind.PERSON, "ana"), user="local", utterance=None,
        call_id="c1", correlation_id="r", created_at=now,
    )  # fmt: skip
    await store.add(waiting)
    await store.claim("p1", yes)
    await house.database.execute("DELETE FROM programs")
    async with record_house(tmp_path / "other", database_url) as other:
        (told,) = other.keeper.found
        assert await other.keeper.settle() == []
        (item,) = (await other.keeper.list()).items
    assert (told["call_id"], told["approved"]["by"]) == ("c1", "ben")
    assert (item["status"], item["outcome_unknown"]) == ("interrupted", True)


async def test_the_last_thirty_days_that_have_lines_are_kept_and_the_chain_stays_whole(
    house: RecordHouse,
) -> None:
    first = datetime(2026, 1, 1, 12, tzinfo=UTC)
    for day in range(35):
        call = ToolCall(tool="send", arguments={}, caller=Caller(CallerKind.PERSON, "a"), call_id=f"c{day}")
        house.ends(call, at=first + timedelta(days=3 * day), begun=False)
        await house.keeper.send()
    found = await verify(house.keeper)
    assert (found.problems, found.lines) == ([], 30)
    assert len(read_lines(house.folder / "logs").items) == 30


async def test_lines_are_found_by_caller_and_mere_looks_left_out(house: RecordHouse) -> None:
    by_client = Caller(CallerKind.CLIENT, 'The "Cursor"')
    house.ends(ToolCall(tool="send", arguments={}, caller=by_client, call_id="c1"), Done(), begun=False)
    me = Caller(CallerKind.PERSON, "ana")
    look = ToolCall(tool="look", arguments={}, caller=me, call_id="c2", incidental=True)
    house.ends(look, Done(), begun=False)
    assert await house.listed(caller='client:The "Cursor"') == [("c1", "done")]
    assert await house.listed(caller="person:ana") == [("c2", "done")]
    assert await house.listed(incidental=False) == [("c1", "done")]
    assert await house.keeper.callers() == ['client:The "Cursor"', "person:ana"]


async def test_lines_of_earlier_versions_learn_their_caller(house: RecordHouse) -> None:
    arguments = {"caller": {"kind": "agent", "id": "other"}}
    me = Caller(CallerKind.PERSON, "ana")
    house.ends(ToolCall(tool="send", arguments=arguments, caller=me, call_id="c1"), Done(), begun=False)
    house.ends(await house.begins("send", call_id="c2", user="ben"), Done())
    await house.listed()
    before = await house.keeper.callers()
    database = house.database
    await database.execute("UPDATE record_lines SET caller = NULL")
    migration = next(each for each in read_migrations() if each.name == "record_callers")
    await database.execute(migration.sql[migration.sql.index("UPDATE") : migration.sql.index("CREATE")])
    assert await house.keeper.callers() == before
    assert await house.listed(caller="person:ana") == [("c1", "done")]
