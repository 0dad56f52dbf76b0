"""What the HTTP API takes and gives, as models that the OpenAPI document shows.

Owns the wire's shapes. Lists are `{items, next}`.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from steward.contract.call import ToolResult, envelope
from steward.contract.deciding import Always
from steward.contract.tool import Origin, RiskLevel, ToolSpec
from steward.orchestrator.lasting_answers import LastingOffer, Reach
from steward.orchestrator.lifecycle import AgentStatus
from steward.orchestrator.proposals import (
    Finished,
    OutcomeUnknown,
    Proposal,
    Receipt,
    Rejected,
    Running,
    state_name,
)
from steward.orchestrator.registry import RegisteredTool
from steward.policy.estimate import estimate


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ToolResultShape(BaseModel):
    status: Literal["done", "failed", "pending_approval"]
    success: bool
    data: Any = None
    error: str | None = None
    error_code: str | None = None
    retryable: bool = False
    outcome_unknown: bool = Field(
        default=False,
        description="It may have taken effect: look before you call again. It is not repeated on its own.",
    )
    proposal_id: str | None = None
    call_id: str
    correlation_id: str
    duration_ms: float

    @classmethod
    def of(cls, result: ToolResult) -> "ToolResultShape":
        return cls(**envelope(result))


class ToolShape(BaseModel):
    name: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None
    risk: RiskLevel
    suggested_risk: RiskLevel | None = Field(
        default=None, description="What a tool that nobody has rated looks like; for a person to confirm."
    )
    agent: str
    available: bool
    blocked: str | None = None
    aliases: list[str] = []
    category: str | None = None
    examples: list[str] = []
    parallel: bool = True
    timeout: float | None = None
    origin: str
    entry: dict[str, Any] | None = Field(
        default=None,
        description="Its entry in tools.json, for Python tools; only an administrator is shown it.",
    )

    @classmethod
    def of(cls, tool: RegisteredTool, risk: RiskLevel, *, entry: dict[str, Any] | None = None) -> "ToolShape":
        spec = tool.spec
        return cls(
            name=spec.name,
            description=spec.description,
            input_schema=dict(spec.input_schema),
            output_schema=None if spec.output_schema is None else dict(spec.output_schema),
            risk=risk,
            suggested_risk=_suggestion(spec, risk),
            agent=tool.agent_id,
            available=tool.available,
            blocked=spec.blocked,
            aliases=list(spec.aliases),
            category=spec.category,
            examples=list(spec.examples),
            parallel=spec.parallel,
            timeout=spec.timeout,
            origin=spec.origin.value,
            entry=entry,
        )


class FoundTool(ToolShape):
    score: float = Field(description="How well it fits, from 0 to 1.")


class FoundTools(BaseModel):
    items: list[FoundTool]
    next: str | None = None
    searched: int = Field(description="How many tools were searched.")
    tokens_saved: int = Field(description="Tokens that a model saves by reading these instead of all.")
    incomplete: list[str] = Field(description="Why the search may not have seen everything.")


def _suggestion(spec: ToolSpec, risk: RiskLevel) -> RiskLevel | None:
    """A rating to propose where nobody gave one. It changes nothing until a person writes it down."""
    rated = spec.origin is Origin.BUILTIN or spec.risk is not None or spec.hints_trusted
    if rated or risk is not RiskLevel.IRREVERSIBLE:
        return None
    suggested = estimate(spec).rating
    return None if suggested is risk else suggested


class ToolList(BaseModel):
    items: list[ToolShape]
    next: str | None = None


class CallBody(Strict):
    arguments: dict[str, Any] = Field(default_factory=dict, examples=[{"text": "The spare key is at Ana's."}])
    timeout: float | None = Field(
        default=None, gt=0, description="Seconds to wait; can only shorten the tool's own."
    )
    correlation_id: str | None = Field(default=None, max_length=128)
    background: bool = Field(
        default=False, description="Do not wait: a worker calls it. 202 with the job's id."
    )


class AcceptBody(Strict):
    shown: str | None = Field(default=None, description="The tool's `blocked` as the person has read it.")


class AgentShape(BaseModel):
    id: str
    state: str
    tools: list[str]
    problem: str | None = None

    @classmethod
    def of(cls, status: AgentStatus) -> "AgentShape":
        return cls(id=status.id, state=status.state.value, tools=list(status.tools), problem=status.problem)


class AgentList(BaseModel):
    items: list[AgentShape]
    next: str | None = None


class HealthShape(BaseModel):
    healthy: bool
    detail: str
    facts: dict[str, Any] = {}


class ReceiptShape(BaseModel):
    approver: str
    approved_at: datetime
    via: str
    arguments: dict[str, Any]
    digest: str
    edited: bool
    answered_by: str = Field(description="person; client where the owner lets a client confirm")
    role: str | None = Field(description="The key's role when it decided.")
    client: str | None = Field(description="The program that the answer came through, by its own name.")

    @classmethod
    def of(cls, receipt: Receipt) -> "ReceiptShape":
        return cls(
            approver=receipt.approver,
            approved_at=receipt.approved_at,
            via=receipt.via,
            arguments=dict(receipt.arguments),
            digest=receipt.digest,
            edited=receipt.edited,
            answered_by=receipt.answered_by.value,
            role=receipt.role,
            client=receipt.client,
        )


class ProposalShape(BaseModel):
    id: str
    state: str
    tool: str
    arguments: dict[str, Any]
    digest: str
    definition_hash: str
    risk: RiskLevel
    confidence: float
    reason: str
    caller: str
    user: str | None
    utterance: str | None
    call_id: str
    correlation_id: str
    created_at: datetime
    expires_at: datetime | None
    effect: str | None = Field(default=None, description="What it would do, as things stood then.")
    elsewhere: str | None = Field(
        default=None, description="The proposal at the Steward behind the tool that this one stands for."
    )
    shown: str | None = Field(
        default=None, description="The whole call as people are shown it; for one proposal, not in lists."
    )
    always: list[Always] | None = Field(
        default=None, description="What a yes may be for always; for one that waits."
    )
    not_always: str | None = Field(default=None, description="Why a yes is for this once only.")
    receipt: ReceiptShape | None = None
    result: dict[str, Any] | None = None
    finished_at: datetime | None = None
    rejected_by: str | None = None
    rejected_at: datetime | None = None
    rejected_why: str | None = None

    @classmethod
    def of(
        cls, proposal: Proposal, *, shown: str | None = None, offer: LastingOffer | None = None
    ) -> "ProposalShape":
        return cls(
            always=None if offer is None else list(offer.always),
            not_always=None if offer is None else offer.why_not,
            id=proposal.id,
            state=state_name(proposal.state),
            tool=proposal.tool,
            arguments=dict(proposal.arguments),
            digest=proposal.digest,
            definition_hash=proposal.definition_hash,
            risk=proposal.risk,
            confidence=proposal.confidence,
            reason=proposal.reason,
            caller=f"{proposal.caller.kind.value}:{proposal.caller.id}",
            user=proposal.user,
            utterance=proposal.utterance,
            call_id=proposal.call_id,
            correlation_id=proposal.correlation_id,
            created_at=proposal.created_at,
            expires_at=proposal.expires_at,
            effect=proposal.effect,
            elsewhere=proposal.elsewhere,
            shown=shown,
            **_outcome(proposal),
        )


def _outcome(proposal: Proposal) -> Mapping[str, Any]:
    match proposal.state:
        case Running(receipt=receipt) | OutcomeUnknown(receipt=receipt):
            return {"receipt": ReceiptShape.of(receipt)}
        case Finished(receipt=receipt, result=result, finished_at=at):
            return {"receipt": ReceiptShape.of(receipt), "result": dict(result), "finished_at": at}
        case Rejected(by=by, at=at, why=why):
            return {"rejected_by": by, "rejected_at": at, "rejected_why": why}
        case _:
            return {}


class ProposalList(BaseModel):
    items: list[ProposalShape]
    next: str | None = None


class LastingBody(Strict):
    always: Always | None = Field(
        default=None,
        description="tool or arguments: the answer becomes a rule in policy.toml, for this tool or for it "
        "with exactly these arguments. A yes for always is refused (409) for what cannot be taken back.",
    )
    everyone: bool = Field(
        default=False,
        description="The rule holds for every user, not only for the one whose call waits; admin only.",
    )

    @property
    def reach(self) -> Reach | None:
        return None if self.always is None else Reach(always=self.always, everyone=self.everyone)


class ApproveBody(LastingBody):
    arguments: dict[str, Any] | None = Field(
        default=None,
        description="Edited arguments; both versions stay on the record.",
        examples=[{"path": "notes/old.md"}],
    )


class RejectBody(LastingBody):
    why: str | None = Field(default=None, max_length=1000, examples=["wrong file"])


class ExecutionCaller(BaseModel):
    kind: str
    id: str | None = None


class ExecutionShape(BaseModel):
    """One line of the execution log; lines of older versions may say less, of newer ones more."""

    model_config = ConfigDict(extra="allow")

    at: datetime
    tool: str
    agent: str | None = None
    caller: ExecutionCaller | None = None
    user: str | None = None
    correlation_id: str | None = None
    call_id: str | None = None
    status: str = Field(description="done, failed, pending_approval, running or interrupted")
    code: str | None = None
    duration_ms: float | None = None
    risk: str | None = None
    confidence: float | None = None
    proposal_id: str | None = None
    outcome_unknown: bool = False
    incidental: bool = Field(default=False, description="The page only read it to show it.")
    arguments: Any = None
    output: Any = None
    error: str | None = None


class ExecutionList(BaseModel):
    items: list[ExecutionShape]
    next: str | None = None


class RecordProblem(BaseModel):
    home: str
    what: str
    number: int | None = Field(description="The line's place in its home's chain.")
    call_id: str | None = None
    tool: str | None = None
    at: str | None = None


class RecordState(BaseModel):
    whole: bool
    lines: int
    erased: int = Field(description="Lines whose content was erased with their user.")
    homes: dict[str, str] = Field(description="Each home's name, and the sha256 of its public key.")
    problems: list[RecordProblem] = Field(description="What was changed or removed; the first hundred.")


class RecordReceipt(BaseModel):
    format: str
    made_at: str
    lines: list[dict[str, Any]]
