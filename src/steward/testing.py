"""Stand-ins for the ports, for tests of programs built on Steward.

Each passes the contract suite of its port (tests/contract) beside the real implementation.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from steward.contract.call import ToolCall, ToolResult
from steward.contract.errors import ConflictError, ErrorCode, UnavailableError
from steward.contract.pins import Pin
from steward.contract.tool import RiskLevel
from steward.knowledge.facts import Fact, FactPage
from steward.orchestrator.ports import Execution, Intent, Page
from steward.orchestrator.proposals import (
    Expired,
    Finished,
    OutcomeUnknown,
    Proposal,
    Receipt,
    Rejected,
    Running,
    Waiting,
    state_name,
)
from steward.policy.access import Key, Role
from steward.policy.rules import Rule, Rules
from steward.storage.database import cursor


def _now() -> datetime:
    return datetime.now(UTC)


class MemoryProposalStore:
    """Proposals in a dictionary. One event loop: a step without `await` inside is atomic."""

    def __init__(self, *, now: Callable[[], datetime] = _now) -> None:
        self._now = now
        self._proposals: dict[str, Proposal] = {}

    async def add(self, proposal: Proposal) -> None:
        if proposal.id in self._proposals:
            raise ConflictError(f"There already is a proposal '{proposal.id}'.")
        self._proposals[proposal.id] = proposal

    async def get(self, proposal_id: str) -> Proposal | None:
        proposal = self._proposals.get(proposal_id)
        return self._aged(proposal) if proposal else None

    async def list(
        self,
        *,
        states: Sequence[str] = (),
        user: str | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> Page:
        created_at, last_id = cursor.decode(after)
        found = sorted(
            map(self._aged, self._proposals.values()), key=lambda p: (p.created_at, p.id), reverse=True
        )
        if created_at is not None:
            found = [p for p in found if (p.created_at, p.id) < (created_at, last_id)]
        if user is not None:
            found = [p for p in found if p.user == user]
        if states:
            found = [p for p in found if state_name(p.state) in states]
        shown = found[:limit]
        more = len(found) > limit and shown
        return Page(items=shown, next=cursor.encode(shown[-1].created_at, shown[-1].id) if more else None)

    async def claim(self, proposal_id: str, receipt: Receipt) -> bool:
        proposal = await self.get(proposal_id)
        if proposal is None or not isinstance(proposal.state, Waiting):
            return False
        self._proposals[proposal_id] = replace(proposal, state=Running(receipt=receipt))
        return True

    async def finish(self, proposal_id: str, result: Mapping[str, Any], *, at: datetime) -> None:
        proposal = self._proposals.get(proposal_id)
        if proposal is not None and isinstance(proposal.state, Running | OutcomeUnknown):
            finished = Finished(receipt=proposal.state.receipt, result=result, finished_at=at)
            self._proposals[proposal_id] = replace(proposal, state=finished)

    async def reject(self, proposal_id: str, *, by: str, at: datetime, why: str | None) -> bool:
        proposal = await self.get(proposal_id)
        if proposal is None or not isinstance(proposal.state, Waiting):
            return False
        self._proposals[proposal_id] = replace(proposal, state=Rejected(by=by, at=at, why=why))
        return True

    def _aged(self, proposal: Proposal) -> Proposal:
        over = proposal.expires_at is not None and proposal.expires_at <= self._now()
        return (
            replace(proposal, state=Expired()) if over and isinstance(proposal.state, Waiting) else proposal
        )


class MemoryFactStore:
    """Facts in a list."""

    def __init__(self) -> None:
        self._facts: list[Fact] = []

    async def add(self, fact: Fact) -> Fact:
        for known in self._facts:
            if (known.user, known.fingerprint) == (fact.user, fact.fingerprint):
                return known
        self._facts.append(fact)
        return fact

    async def list(self, user: str, *, limit: int = 50, after: str | None = None) -> FactPage:
        created_at, last_id = cursor.decode(after)
        found = sorted(
            (fact for fact in self._facts if fact.user == user),
            key=lambda fact: (fact.created_at, fact.id),
            reverse=True,
        )
        if created_at is not None:
            found = [fact for fact in found if (fact.created_at, fact.id) < (created_at, last_id)]
        shown = found[:limit]
        more = len(found) > limit and shown
        return FactPage(items=shown, next=cursor.encode(shown[-1].created_at, shown[-1].id) if more else None)

    async def remove(self, user: str, fact_id: str) -> bool:
        before = len(self._facts)
        self._facts = [fact for fact in self._facts if (fact.user, fact.id) != (user, fact_id)]
        return len(self._facts) < before

    async def erase(self, user: str) -> int:
        before = len(self._facts)
        self._facts = [fact for fact in self._facts if fact.user != user]
        return before - len(self._facts)


class MemoryPinStore:
    """Pinned definitions in a dictionary."""

    def __init__(self) -> None:
        self._pins: dict[tuple[str, str], Pin] = {}

    async def of(self, agent: str) -> Mapping[str, Pin]:
        return {tool: pin for (owner, tool), pin in self._pins.items() if owner == agent}

    async def remember(self, pins: Sequence[Pin]) -> None:
        for pin in pins:
            known = self._pins.setdefault((pin.agent, pin.tool), pin)
            self._pins[pin.agent, pin.tool] = replace(known, registered=known.registered or pin.registered)

    async def accept(self, pin: Pin) -> None:
        known = self._pins.get((pin.agent, pin.tool), pin)
        self._pins[pin.agent, pin.tool] = replace(pin, registered=known.registered or pin.registered)


class MemoryKeyStore:
    """Keys in a dictionary."""

    def __init__(self) -> None:
        self.keys: dict[str, Key] = {}

    async def add(self, key: Key) -> None:
        if any(known.name == key.name for known in self.keys.values()):
            raise ConflictError(f"There already is a key named '{key.name}'.")
        self.keys[key.id] = key

    async def get(self, key_id: str) -> Key | None:
        return self.keys.get(key_id)

    async def list(self) -> Sequence[Key]:
        return sorted(self.keys.values(), key=lambda key: key.created_at)

    async def set_role(self, key_id: str, role: Role) -> bool:
        if key_id not in self.keys:
            return False
        self.keys[key_id] = replace(self.keys[key_id], role=role)
        return True

    async def remove(self, key_id: str) -> bool:
        return self.keys.pop(key_id, None) is not None


class MemoryExecutionLog:
    """Keeps every execution in a list; `full` makes it refuse like a disk that takes nothing more."""

    def __init__(self) -> None:
        self.intents: list[Intent] = []
        self.executions: list[Execution] = []
        self.full = False

    async def begin(self, intent: Intent) -> None:
        if self.full:
            raise UnavailableError("Nothing was run: it cannot be recorded.", code=ErrorCode.RECORD_FAILED)
        self.intents.append(intent)

    def append(self, execution: Execution) -> None:
        self.executions.append(execution)

    def accepting(self) -> bool:
        return not self.full


class MemoryRuleKeeper:
    """Rules as a workspace would keep them, without a file."""

    def __init__(self) -> None:
        self.rules = Rules()

    async def add(self, rule: Rule, *, note: str) -> bool:
        del note  # nobody reads a comment here
        if any(each.id == rule.id for each in self.rules.rules):
            return False
        self.rules = self.rules.and_rule(rule)
        return True

    async def remove(self, rule_id: str) -> None:
        kept = tuple(rule for rule in self.rules.rules if rule.id != rule_id)
        self.rules = replace(self.rules, rules=kept)


class MemoryTracer:
    """Keeps finished calls as (tool, result) instead of exporting spans."""

    def __init__(self) -> None:
        self.finished: list[tuple[str, ToolResult | None]] = []
        self.risks: list[RiskLevel | None] = []

    @contextmanager
    def tool_call(self, call: ToolCall) -> Generator["MemorySpan"]:
        span = MemorySpan()
        try:
            yield span
        finally:
            self.finished.append((call.tool, span.result))
            self.risks.append(span.risk)


class MemorySpan:
    def __init__(self) -> None:
        self.result: ToolResult | None = None
        self.risk: RiskLevel | None = None

    def finish(self, result: ToolResult, *, risk: RiskLevel | None = None) -> None:
        self.result, self.risk = result, risk
