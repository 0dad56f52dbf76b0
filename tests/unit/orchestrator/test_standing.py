"""The same call of one session waits once."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

from tests.support.deciders import deciding
from tests.support.door import MODEL, PERSON, Door, tool

from steward.contract.call import PendingApproval, ToolCall
from steward.contract.tool import RiskLevel
from steward.orchestrator import standing_proposals as standing


def wipe(name: str = "disk") -> str:
    return f"wiped {name}"


async def asking(door: Door, session: str | None = "s", caller: Any = MODEL, **arguments: Any) -> str:
    call = ToolCall(tool="wipe", arguments=arguments, caller=caller, session=session)
    waiting = await door.orchestrator.execute(call)
    assert isinstance(waiting, PendingApproval)
    return waiting.proposal_id


async def a_door(**options: Any) -> Door:
    return await Door(**options).with_tools(tool(wipe, risk=RiskLevel.IRREVERSIBLE))


async def test_a_call_sent_again_is_the_proposal_that_waits() -> None:
    door = await a_door()
    first = await asking(door, name="disk")
    assert await asking(door, name="disk") == first
    assert len((await door.store.list()).items) == 1


async def test_two_at_once_are_one_proposal() -> None:
    door = await a_door()
    assert len(set(await asyncio.gather(*(asking(door, name="disk") for _ in range(5))))) == 1


async def test_another_call_session_or_caller_is_another_proposal() -> None:
    door = await a_door()
    first = await asking(door, name="disk")
    others = [
        await asking(door, name="tape"),
        await asking(door, "t", name="disk"),
        await asking(door, caller=PERSON, name="disk"),
        await asking(door, None, name="disk"),
        await asking(door, None, name="disk"),
    ]
    assert len({first, *others}) == 6


async def test_what_was_decided_is_asked_about_anew() -> None:
    door = await a_door()
    first = await asking(door, name="disk")
    await door.orchestrator.approvals.reject(first, by=deciding("ana"))
    assert await asking(door, name="disk") != first


async def test_what_expired_is_asked_about_anew() -> None:
    door = await a_door(expiry=timedelta(seconds=-1))
    assert await asking(door, name="disk") != await asking(door, name="disk")


async def test_a_tool_that_changed_is_asked_about_anew() -> None:
    door = await a_door()
    first = await asking(door, name="disk")
    door.store._proposals[first] = replace(door.store._proposals[first], definition_hash="before")
    assert await asking(door, name="disk") != first


async def test_only_so_many_are_remembered(monkeypatch: Any) -> None:
    monkeypatch.setattr(standing, "MOST_STANDING", 2)
    door = await a_door()
    first = await asking(door, name="a")
    for name in ("b", "c"):
        await asking(door, name=name)
    assert await asking(door, name="a") != first
