"""What a call would do is told before a yes, and must still be so when the yes comes."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from tests.support.deciders import deciding
from tests.support.door import PERSON, Door, tool

from steward.contract.call import Done, Failed, PendingApproval
from steward.contract.errors import ConflictError, ErrorCode, InputError, StewardError, StorageError
from steward.contract.tool import RiskLevel


class Memories:
    def __init__(self) -> None:
        self.kept = 3
        self.trouble: Exception | None = None

    def forget(self) -> int:
        return self.kept

    async def tell(self) -> str:
        if self.trouble is not None:
            raise self.trouble
        return f"forgets all {self.kept} memories"


@pytest.fixture
def memories() -> Memories:
    return Memories()


@pytest.fixture
async def door(memories: Memories) -> AsyncIterator[Door]:
    door = Door()
    await door.with_tools(replace(tool(memories.forget, risk=RiskLevel.IRREVERSIBLE), tell=memories.tell))
    yield door
    await door.orchestrator.lifecycle.stop_all()


async def waiting(door: Door) -> str:
    result = await door.call("forget")
    assert isinstance(result, PendingApproval)
    return result.proposal_id


async def approve(door: Door, proposal_id: str) -> object:
    return await door.orchestrator.approvals.approve(proposal_id, by=deciding(PERSON.id))


async def test_the_proposal_says_what_the_call_would_do(door: Door) -> None:
    proposal = await door.orchestrator.approvals.get(await waiting(door))
    assert proposal.shown().effect == "forgets all 3 memories"


async def test_a_yes_to_what_is_still_so_runs(door: Door) -> None:
    assert isinstance(await approve(door, await waiting(door)), Done)


@pytest.mark.parametrize("trouble", [None, InputError("gone"), StewardError("away")])
async def test_a_yes_to_what_is_no_longer_so_runs_nothing(
    door: Door, memories: Memories, trouble: Exception | None
) -> None:
    proposal_id = await waiting(door)
    memories.kept, memories.trouble = 4, trouble
    with pytest.raises(ConflictError) as refused:
        await approve(door, proposal_id)
    assert refused.value.code == ErrorCode.PROPOSAL_OUTDATED


async def test_a_call_that_could_do_nothing_is_answered_and_asks_nobody(
    door: Door, memories: Memories
) -> None:
    memories.trouble = InputError("Say which one.")
    result = await door.call("forget")
    assert isinstance(result, Failed)
    assert (result.code, (await door.store.list()).items) == (ErrorCode.INVALID_INPUT, [])


@pytest.mark.parametrize("trouble", [StorageError("away"), ZeroDivisionError()])
async def test_a_call_whose_effect_cannot_be_told_is_still_asked_about(
    door: Door, memories: Memories, trouble: Exception
) -> None:
    memories.trouble = trouble
    assert (await door.orchestrator.approvals.get(await waiting(door))).effect is None


async def test_a_tool_that_changed_between_the_yes_and_the_run_does_not_run(door: Door) -> None:
    proposal = await door.orchestrator.approvals.get(await waiting(door))
    agreed = (await door.orchestrator.approvals.list()).items[0]
    assert agreed == proposal
    registered = door.orchestrator.registry.get("forget")
    claim = door.store.claim

    async def claim_and_swap(*given: object) -> bool:
        claimed = await claim(*given)  # type: ignore[arg-type]
        registered.spec.__dict__["definition_hash"] = "another"
        return claimed

    door.store.claim = claim_and_swap  # type: ignore[method-assign,assignment]
    result = await approve(door, proposal.id)
    assert isinstance(result, Failed)
    assert result.code == ErrorCode.PROPOSAL_OUTDATED
