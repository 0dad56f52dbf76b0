"""Every ProposalStore keeps these promises, the shipped stand-in as well as PostgreSQL."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from steward.contract.call import Caller, CallerKind
from steward.contract.errors import InputError, StewardError
from steward.contract.tool import RiskLevel
from steward.orchestrator.ports import ProposalStore
from steward.orchestrator.proposals import (
    Expired,
    Finished,
    Proposal,
    Receipt,
    Rejected,
    Running,
    Waiting,
    argument_digest,
)
from steward.storage.proposals import PostgresProposalStore
from steward.testing import MemoryProposalStore

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(params=["memory", "postgres"])
def store(request: pytest.FixtureRequest) -> ProposalStore:
    if request.param == "memory":
        return MemoryProposalStore()
    return PostgresProposalStore(request.getfixturevalue("database"))


def proposal(name: str = "p1", **changes: Any) -> Proposal:
    arguments: dict[str, Any] = {"path": "/tmp/ä", "deep": {"n": [1, 2.0, 1e18, None, True, "\u0000"]}}
    plain = Proposal(
        id=name,
        tool="write_file",
        arguments=arguments,
        digest=argument_digest("write_file", arguments),
        definition_hash="h1",
        risk=RiskLevel.IRREVERSIBLE,
        confidence=0.25,
        reason="writes outside",
        caller=Caller(CallerKind.AGENT, "researcher"),
        user="local",
        utterance="please write it",
        call_id="c1",
        correlation_id="r1",
        created_at=NOON,
    )
    return replace(plain, **changes)


def receipt(of: Proposal, **changes: Any) -> Receipt:
    plain = Receipt(
        approver="ana",
        approved_at=NOON,
        via="cli",
        arguments=of.arguments,
        digest=of.digest,
        definition_hash=of.definition_hash,
    )
    return replace(plain, **changes)


@pytest.mark.req("RES-ART-II.E")
async def test_a_proposal_comes_back_as_it_went(store: ProposalStore) -> None:
    added = proposal(expires_at=datetime.now(UTC) + timedelta(days=1), effect="writes /tmp/ä", elsewhere="b1")
    await store.add(added)
    found = await store.get("p1")
    assert found == added
    assert argument_digest(found.tool, found.arguments) == added.digest


async def test_optional_parts_may_be_absent(store: ProposalStore) -> None:
    added = proposal(user=None, utterance=None, arguments={})
    await store.add(added)
    assert await store.get("p1") == added


async def test_an_unknown_proposal_is_none_and_cannot_be_decided(store: ProposalStore) -> None:
    assert await store.get("nobody") is None
    assert not await store.claim("nobody", receipt(proposal()))
    assert not await store.reject("nobody", by="ana", at=NOON, why=None)


async def test_the_same_id_is_not_added_twice(store: ProposalStore) -> None:
    await store.add(proposal())
    with pytest.raises(StewardError) as refused:
        await store.add(proposal(tool="other"))
    assert refused.value.code == "CONFLICT"
    assert await store.get("p1") == proposal()


@pytest.mark.req("ORC-Q35")
async def test_a_proposal_without_expiry_waits_for_ever(store: ProposalStore) -> None:
    await store.add(proposal(created_at=datetime(1999, 1, 1, tzinfo=UTC)))
    assert (await store.get("p1")).state == Waiting()
    assert await store.claim("p1", receipt(proposal()))


async def test_an_expired_proposal_is_shown_and_cannot_be_decided(store: ProposalStore) -> None:
    old = proposal(expires_at=NOON + timedelta(seconds=1))
    await store.add(old)
    assert await store.get("p1") == replace(old, state=Expired())
    assert not await store.claim("p1", receipt(old))
    assert not await store.reject("p1", by="ana", at=NOON, why=None)
    assert [p.id for p in (await store.list(states=["expired"])).items] == ["p1"]
    assert (await store.list(states=["waiting"])).items == []


async def test_a_claim_is_running_with_its_receipt(store: ProposalStore) -> None:
    await store.add(proposal())
    edited = {"path": "/tmp/b"}
    given = receipt(proposal(), arguments=edited, digest=argument_digest("write_file", edited), edited=True)
    assert await store.claim("p1", given)
    assert await store.get("p1") == proposal(state=Running(receipt=given))


async def test_of_fifty_claims_at_once_one_wins(store: ProposalStore) -> None:
    await store.add(proposal())
    claims = [store.claim("p1", receipt(proposal(), approver=f"person {n}")) for n in range(50)]
    assert sorted(await asyncio.gather(*claims)) == [False] * 49 + [True]
    assert not await store.claim("p1", receipt(proposal()))


async def test_of_claim_and_reject_at_once_one_wins(store: ProposalStore) -> None:
    for n in range(20):
        await store.add(proposal(f"p{n}"))
        one = store.claim(f"p{n}", receipt(proposal()))
        other = store.reject(f"p{n}", by="ben", at=NOON, why=None)
        assert sorted(await asyncio.gather(one, other)) == [False, True]


async def test_a_finished_proposal_keeps_receipt_and_result(store: ProposalStore) -> None:
    await store.add(proposal())
    await store.claim("p1", receipt(proposal()))
    later = NOON + timedelta(minutes=1)
    await store.finish("p1", {"status": "done", "data": {"n": 1.0}}, at=later)
    finished = Finished(
        receipt=receipt(proposal()), result={"status": "done", "data": {"n": 1.0}}, finished_at=later
    )
    assert await store.get("p1") == proposal(state=finished)
    await store.finish("p1", {"status": "failed"}, at=later)
    assert await store.get("p1") == proposal(state=finished)
    assert not await store.claim("p1", receipt(proposal()))


async def test_what_was_never_claimed_does_not_finish(store: ProposalStore) -> None:
    await store.add(proposal())
    await store.finish("p1", {"status": "done"}, at=NOON)
    assert await store.get("p1") == proposal()


async def test_a_rejection_says_who_when_and_why(store: ProposalStore) -> None:
    await store.add(proposal())
    assert await store.reject("p1", by="ana", at=NOON, why="too risky")
    assert await store.get("p1") == proposal(state=Rejected(by="ana", at=NOON, why="too risky"))
    assert not await store.reject("p1", by="ben", at=NOON, why=None)
    assert not await store.claim("p1", receipt(proposal()))


async def test_the_list_is_newest_first_in_pages_that_new_ones_do_not_shift(store: ProposalStore) -> None:
    # Three share one moment: the id decides between them.
    moments = [NOON, NOON, NOON, NOON + timedelta(seconds=1), NOON + timedelta(microseconds=1)]
    for n, moment in enumerate(moments):
        await store.add(proposal(f"p{n}", created_at=moment))
    first = await store.list(limit=2)
    await store.add(proposal("new", created_at=NOON + timedelta(days=1)))
    second = await store.list(limit=2, after=first.next)
    third = await store.list(limit=2, after=second.next)
    pages = [[p.id for p in page.items] for page in (first, second, third)]
    assert pages == [["p3", "p4"], ["p2", "p1"], ["p0"]]
    assert third.next is None


async def test_the_list_is_filtered_by_user(store: ProposalStore) -> None:
    await store.add(proposal("a", user="ana"))
    await store.add(proposal("b", user="ben"))
    await store.add(proposal("c", user=None))
    shown = {
        user: [p.id for p in (await store.list(user=user)).items] for user in ("ana", "ben", "eve", None)
    }
    assert shown == {"ana": ["a"], "ben": ["b"], "eve": [], None: ["c", "b", "a"]}


async def test_a_receipt_comes_back_as_it_went(store: ProposalStore) -> None:
    given = receipt(proposal(), answered_by=CallerKind.CLIENT, role="use", client="cursor/1")
    await store.add(proposal())
    await store.claim("p1", given)
    found = await store.get("p1")
    assert found is not None
    assert found.state == Running(receipt=given)


async def test_the_list_is_filtered_by_state(store: ProposalStore) -> None:
    for name in ("a", "b", "c"):
        await store.add(proposal(name))
    await store.claim("a", receipt(proposal()))
    await store.reject("b", by="ana", at=NOON, why=None)
    shown = {
        states: [p.id for p in (await store.list(states=states)).items]
        for states in ((), ("waiting",), ("running", "rejected"), ("finished",))
    }
    assert shown == {
        (): ["c", "b", "a"],
        ("waiting",): ["c"],
        ("running", "rejected"): ["b", "a"],
        ("finished",): [],
    }


async def test_an_exact_page_has_no_next(store: ProposalStore) -> None:
    await store.add(proposal("a"))
    await store.add(proposal("b"))
    assert (await store.list(limit=2)).next is None


@pytest.mark.parametrize("cursor", ["x", "", "é", "bm90IGEgdGltZSBp", "MjAyNi0wMS0wMVQwMDowMDowMCBpZA"])
async def test_a_cursor_nobody_gave_is_refused(store: ProposalStore, cursor: str) -> None:
    with pytest.raises(InputError) as refused:
        await store.list(after=cursor)
    assert refused.value.code == "INVALID_INPUT"
