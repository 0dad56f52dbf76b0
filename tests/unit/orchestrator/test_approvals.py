"""A person's yes runs exactly the call they said yes to, once."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.support.deciders import deciding
from tests.support.door import MODEL, PERSON, Door, tool

from steward.contract.call import Caller, CallerKind, Done, PendingApproval, ToolCall
from steward.contract.deciding import Decider, Role, Way
from steward.contract.errors import (
    ConflictError,
    ForbiddenError,
    InputError,
    NotFoundError,
    StewardError,
    StorageError,
)
from steward.contract.tool import RiskLevel
from steward.orchestrator.lifecycle import LifecycleLimits
from steward.orchestrator.proposals import Finished, Proposal, Rejected, Running, Waiting, argument_digest
from steward.testing import MemoryProposalStore

WIPE = {"type": "object", "properties": {"disk": {"type": "string"}}, "required": ["disk"]}


class Wiper:
    def __init__(self) -> None:
        self.wiped: list[str] = []

    def wipe(self, disk: str) -> str:
        self.wiped.append(disk)
        return f"wiped {disk}"


@pytest.fixture
def wiper() -> Wiper:
    return Wiper()


@pytest.fixture
async def door(wiper: Wiper) -> AsyncIterator[Door]:
    door = Door()
    await door.with_tools(tool(wiper.wipe, risk=RiskLevel.IRREVERSIBLE, input_schema=WIPE))
    yield door
    await door.orchestrator.lifecycle.stop_all()


async def waiting(door: Door, disk: str = "sda", *, user: str | None = None, caller: Caller = MODEL) -> str:
    call = ToolCall(tool="wipe", arguments={"disk": disk}, caller=caller, user=user)
    result = await door.orchestrator.execute(call)
    assert isinstance(result, PendingApproval)
    return result.proposal_id


@pytest.mark.req("ORC-FR-011", "ORC-Q06")
async def test_approving_runs_exactly_the_proposed_call_and_keeps_a_receipt(door: Door, wiper: Wiper) -> None:
    proposal_id = await waiting(door)
    assert wiper.wiped == []
    result = await door.orchestrator.approvals.approve(proposal_id, by=deciding(PERSON.id))
    kept = await door.orchestrator.approvals.get(proposal_id)
    assert (isinstance(result, Done) and result.data, wiper.wiped) == ("wiped sda", ["sda"])
    assert isinstance(kept.state, Finished)
    assert (
        kept.state.receipt.approver,
        kept.state.receipt.via,
        kept.state.receipt.digest,
        kept.state.result["data"],
    ) == (
        "ana",
        "cli",
        argument_digest("wipe", {"disk": "sda"}),
        "wiped sda",
    )


async def test_a_second_yes_is_told_that_it_was_already_run(door: Door, wiper: Wiper) -> None:
    proposal_id = await waiting(door)
    await door.orchestrator.approvals.approve(proposal_id, by=deciding(PERSON.id))
    with pytest.raises(ConflictError) as caught:
        await door.orchestrator.approvals.approve(proposal_id, by=deciding(PERSON.id))
    assert (caught.value.code, "already run" in caught.value.message, wiper.wiped) == (
        "PROPOSAL_ALREADY_DECIDED",
        True,
        ["sda"],
    )


async def test_fifty_people_saying_yes_at_once_run_it_once(door: Door, wiper: Wiper) -> None:
    proposal_id = await waiting(door)
    answers = await asyncio.gather(
        *(door.orchestrator.approvals.approve(proposal_id, by=deciding(PERSON.id)) for _ in range(50)),
        return_exceptions=True,
    )
    done = [answer for answer in answers if isinstance(answer, Done)]
    refused = {answer.code for answer in answers if isinstance(answer, StewardError)}
    assert (len(done), refused, wiper.wiped) == (1, {"PROPOSAL_ALREADY_DECIDED"}, ["sda"])


@pytest.mark.parametrize("kind", [CallerKind.AGENT, CallerKind.CLIENT, CallerKind.SYSTEM])
async def test_only_a_person_decides(door: Door, wiper: Wiper, kind: CallerKind) -> None:
    proposal_id = await waiting(door)
    who = deciding("x", kind=kind)
    for decision in (
        door.orchestrator.approvals.approve(proposal_id, by=who),
        door.orchestrator.approvals.reject(proposal_id, by=who),
    ):
        with pytest.raises(ForbiddenError):
            await decision
    assert ((await door.orchestrator.approvals.get(proposal_id)).state, wiper.wiped) == (Waiting(), [])


async def test_a_rejected_call_never_runs(door: Door, wiper: Wiper) -> None:
    proposal_id = await waiting(door)
    rejected = await door.orchestrator.approvals.reject(proposal_id, by=deciding(PERSON.id), why="wrong disk")
    with pytest.raises(ConflictError) as caught:
        await door.orchestrator.approvals.approve(proposal_id, by=deciding(PERSON.id))
    with pytest.raises(ConflictError):
        await door.orchestrator.approvals.reject(proposal_id, by=deciding(PERSON.id))
    assert isinstance(rejected.state, Rejected)
    assert (rejected.state.by, rejected.state.why) == ("ana", "wrong disk")
    assert (caught.value.code, wiper.wiped) == ("PROPOSAL_ALREADY_DECIDED", [])


async def test_edited_arguments_run_instead_and_both_stay_on_record(door: Door, wiper: Wiper) -> None:
    proposal_id = await waiting(door)
    await door.orchestrator.approvals.approve(proposal_id, by=deciding(PERSON.id), edited={"disk": "sdb"})
    kept = await door.orchestrator.approvals.get(proposal_id)
    assert isinstance(kept.state, Finished)
    assert (
        wiper.wiped,
        dict(kept.arguments),
        dict(kept.state.receipt.arguments),
        kept.state.receipt.edited,
    ) == (
        ["sdb"],
        {"disk": "sda"},
        {"disk": "sdb"},
        True,
    )
    assert kept.digest != kept.state.receipt.digest


async def test_edited_arguments_that_the_tool_forbids_leave_the_proposal_waiting(
    door: Door, wiper: Wiper
) -> None:
    proposal_id = await waiting(door)
    with pytest.raises(InputError):
        await door.orchestrator.approvals.approve(proposal_id, by=deciding(PERSON.id), edited={"disk": 7})
    assert ((await door.orchestrator.approvals.get(proposal_id)).state, wiper.wiped) == (Waiting(), [])


async def test_a_changed_definition_refuses_and_asks_for_a_new_proposal(wiper: Wiper) -> None:
    door = Door()
    await door.with_tools(tool(wiper.wipe, risk=RiskLevel.IRREVERSIBLE, input_schema=WIPE), agent="before")
    proposal_id = await waiting(door)
    await door.orchestrator.lifecycle.unregister("before")
    other = WIPE | {"description": "now wipes everything"}
    await door.with_tools(tool(wiper.wipe, risk=RiskLevel.IRREVERSIBLE, input_schema=other), agent="after")
    with pytest.raises(ConflictError) as caught:
        await door.orchestrator.approvals.approve(proposal_id, by=deciding(PERSON.id))
    assert (caught.value.code, wiper.wiped) == ("PROPOSAL_OUTDATED", [])


async def test_what_a_person_must_know_of_a_tool_stands_in_every_question(wiper: Wiper) -> None:
    door = Door()
    caution = "This machine cannot contain it."
    await door.with_tools(tool(wiper.wipe, risk=RiskLevel.IRREVERSIBLE, input_schema=WIPE, caution=caution))
    asked = await door.call("wipe", disk="sda")
    assert isinstance(asked, PendingApproval)
    assert asked.reason.endswith(f". {caution}")
    assert (await door.orchestrator.approvals.get(asked.proposal_id)).reason == asked.reason


async def test_a_proposal_nobody_made_is_not_found(door: Door) -> None:
    with pytest.raises(NotFoundError) as caught:
        await door.orchestrator.approvals.approve("nope", by=deciding(PERSON.id))
    assert caught.value.code == "PROPOSAL_NOT_FOUND"


@pytest.mark.req("ORC-Q35")
async def test_proposals_do_not_expire_unless_the_host_says_so(door: Door, wiper: Wiper) -> None:
    assert (await door.orchestrator.approvals.get(await waiting(door))).expires_at is None
    hasty = Door(expiry=timedelta(microseconds=1))
    await hasty.with_tools(tool(wiper.wipe, risk=RiskLevel.IRREVERSIBLE, input_schema=WIPE))
    with pytest.raises(ConflictError) as caught:
        await hasty.orchestrator.approvals.approve(await waiting(hasty), by=deciding(PERSON.id))
    assert (caught.value.code, wiper.wiped) == ("PROPOSAL_EXPIRED", [])


async def test_a_failing_approved_call_is_kept_as_failed_and_not_repeated(door: Door) -> None:
    def explode() -> None:
        raise ValueError("boom")

    await door.with_tools(tool(explode, risk=RiskLevel.IRREVERSIBLE), agent="other")
    pending = await door.call("explode")
    assert isinstance(pending, PendingApproval)
    await door.orchestrator.approvals.approve(pending.proposal_id, by=deciding(PERSON.id))
    kept = await door.orchestrator.approvals.get(pending.proposal_id)
    assert isinstance(kept.state, Finished)
    assert (kept.state.result["status"], kept.state.result["error_code"]) == (
        "failed",
        "TOOL_EXECUTION_ERROR",
    )


async def test_waiting_calls_are_listed_newest_first(door: Door) -> None:
    first, second = await waiting(door, "a"), await waiting(door, "b")
    await door.orchestrator.approvals.reject(first, by=deciding(PERSON.id))
    everything = await door.orchestrator.approvals.list()
    still = await door.orchestrator.approvals.list(states=("waiting",))
    assert ([p.id for p in everything.items], [p.id for p in still.items]) == ([second, first], [second])


async def test_the_reason_and_who_asked_are_kept(door: Door) -> None:
    proposal = await door.orchestrator.approvals.get(await waiting(door))
    assert (proposal.caller, proposal.risk, bool(proposal.reason), proposal.digest) == (
        MODEL,
        RiskLevel.IRREVERSIBLE,
        True,
        argument_digest("wipe", {"disk": "sda"}),
    )


class Telling:
    def __init__(self, error: Exception | None = None) -> None:
        self.told: asyncio.Queue[Proposal] = asyncio.Queue()
        self._error = error

    async def notify(self, proposal: Proposal) -> None:
        await self.told.put(proposal)
        if self._error:
            raise self._error


@pytest.mark.parametrize("error", [None, RuntimeError("the hook is broken")])
async def test_a_waiting_call_is_told_about_and_a_broken_hook_harms_nothing(wiper: Wiper, error: Any) -> None:
    hook = Telling(error)
    door = await Door(notifier=hook).with_tools(
        tool(wiper.wipe, risk=RiskLevel.IRREVERSIBLE, input_schema=WIPE)
    )
    proposal_id = await waiting(door)
    assert (await asyncio.wait_for(hook.told.get(), 5)).id == proposal_id
    await door.orchestrator.approvals.approve(proposal_id, by=deciding(PERSON.id))
    assert wiper.wiped == ["sda"]


async def test_news_under_way_get_out_before_the_end_and_a_hook_that_hangs_does_not_hold_it_up(
    wiper: Wiper,
) -> None:
    class Slow:
        told = False

        async def notify(self, proposal: Proposal) -> None:
            for _ in range(10):
                await asyncio.sleep(0)
            self.told = True

    class Hanging:
        async def notify(self, proposal: Proposal) -> None:
            await asyncio.Event().wait()

    slow = Slow()
    for hook in (slow, Hanging()):
        door = await Door(notifier=hook, limits=LifecycleLimits(news=0.05)).with_tools(
            tool(wiper.wipe, risk=RiskLevel.IRREVERSIBLE, input_schema=WIPE)
        )
        await waiting(door)
        async with asyncio.timeout(10):
            await door.orchestrator.settle()
    assert slow.told


OWN = deciding("ana", role=Role.APPROVE)


@pytest.mark.parametrize(
    "who",
    [deciding("ana", role=Role.USE), deciding("bob", role=Role.APPROVE), deciding("ana", role=Role.READ)],
)
async def test_without_the_role_for_this_users_calls_nothing_is_decided(
    door: Door, wiper: Wiper, who: Decider
) -> None:
    proposal_id = await waiting(door, user="ana")
    approvals = door.orchestrator.approvals
    for decision in (
        approvals.approve(proposal_id, by=who),
        approvals.approve(proposal_id, by=who, edited={"disk": "sdb"}),
        approvals.reject(proposal_id, by=who),
    ):
        with pytest.raises(ForbiddenError):
            await decision
    assert not await approvals.may_decide(proposal_id, by=who)
    assert ((await approvals.get(proposal_id)).state, wiper.wiped) == (Waiting(), [])


async def test_the_receipt_keeps_role_program_and_way(door: Door, wiper: Wiper) -> None:
    proposal_id = await waiting(door, user="ana")
    await door.orchestrator.approvals.approve(proposal_id, by=OWN)
    state = (await door.orchestrator.approvals.get(proposal_id)).state
    assert isinstance(state, Finished)
    receipt = state.receipt
    told = (receipt.approver, receipt.role, receipt.client, receipt.via, receipt.answered_by)
    assert told == ("ana", "approve", "test", "cli", CallerKind.PERSON)
    assert wiper.wiped == ["sda"]


async def test_a_client_confirms_only_what_it_called_itself(door: Door, wiper: Wiper) -> None:
    client = Caller(CallerKind.CLIENT, "cursor")
    mine = await waiting(door, caller=client)
    approvals = door.orchestrator.approvals
    for who in (
        deciding("claude", kind=CallerKind.CLIENT, way=Way.CLIENT),
        deciding("cursor", kind=CallerKind.CLIENT, way=Way.API),
        deciding("cursor", way=Way.CLIENT),
    ):
        with pytest.raises(ForbiddenError):
            await approvals.confirmed_by_client(mine, by=who)
    assert wiper.wiped == []
    await approvals.confirmed_by_client(
        mine, by=deciding("cursor", role=Role.USE, kind=CallerKind.CLIENT, way=Way.CLIENT)
    )
    state = (await approvals.get(mine)).state
    assert isinstance(state, Finished)
    assert (state.receipt.answered_by, state.receipt.via) == (CallerKind.CLIENT, "client")


async def test_a_list_holds_one_users_proposals_where_one_is_named(door: Door, wiper: Wiper) -> None:
    anas = await waiting(door, user="ana")
    await waiting(door, user="bob")
    page = await door.orchestrator.approvals.list(user="ana")
    assert [proposal.id for proposal in page.items] == [anas]
    assert wiper.wiped == []


class AwayAtTheEnd(MemoryProposalStore):
    """A store that does not take an outcome for a while: its disk is full, or it is not there."""

    def __init__(self, *, tries: int) -> None:
        super().__init__()
        self.tries = tries

    async def finish(self, proposal_id: str, result: Mapping[str, Any], *, at: datetime) -> None:
        self.tries -= 1
        if self.tries >= 0:
            raise StorageError("The database's disk is full.")
        await super().finish(proposal_id, result, at=at)


@pytest.fixture
async def away(wiper: Wiper) -> AsyncIterator[Door]:
    door = Door(store=AwayAtTheEnd(tries=4), limits=LifecycleLimits(store_again=0.001))
    await door.with_tools(tool(wiper.wipe, risk=RiskLevel.IRREVERSIBLE, input_schema=WIPE))
    yield door
    await door.orchestrator.lifecycle.stop_all()


async def test_an_outcome_is_stored_once_the_store_takes_it_again(away: Door) -> None:
    proposal_id = await waiting(away)
    result = await away.orchestrator.approvals.approve(proposal_id, by=deciding(PERSON.id))
    at_first = (await away.orchestrator.approvals.get(proposal_id)).state
    await away.orchestrator.settle()
    later = (await away.orchestrator.approvals.get(proposal_id)).state
    assert (type(result), type(at_first), type(later)) == (Done, Running, Finished)


async def test_an_approved_call_whose_caller_gives_up_is_finished_as_unknown(door: Door) -> None:
    begun = asyncio.Event()

    async def hang() -> None:
        begun.set()
        await asyncio.Event().wait()

    await door.with_tools(tool(hang, risk=RiskLevel.IRREVERSIBLE), agent="other")
    call = ToolCall(tool="hang", arguments={}, caller=MODEL)
    pending = await door.orchestrator.execute(call)
    assert isinstance(pending, PendingApproval)
    approving = door.orchestrator.approvals.approve(pending.proposal_id, by=deciding(PERSON.id))
    task = asyncio.create_task(approving)
    await begun.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await door.orchestrator.settle()
    state = (await door.orchestrator.approvals.get(pending.proposal_id)).state
    assert isinstance(state, Finished)
    assert (state.result["error_code"], state.result["outcome_unknown"]) == ("CANCELLED", True)
