"""The orchestrator as a Pydantic AI toolset: what a model calls goes through the one door.

Owns the translation between the two: tools to definitions, calls to `ToolCall`s with the session's user
and our confidence, results to what a model may read, waiting proposals to deferred requests. Nothing a
tool does comes back as an exception. Decides nothing: rules are policy's, approvals a person's.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from typing import Any, cast

from pydantic_ai import ApprovalRequired, RunContext, ToolDefinition
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from steward.agents.session import AgentSession
from steward.agents.turn.calls import call_through
from steward.agents.turn.confidence import Confidence, Evidence, no_confidence
from steward.agents.turn.decisions import note_decided, outcome_of
from steward.agents.turn.ledger import Shown
from steward.agents.turn.results import READ_RESULT, ResultBounds, ResultShelf, as_text, failure
from steward.contract.call import PendingApproval, ToolResult
from steward.contract.errors import ErrorCode, StewardError
from steward.contract.ports import ToolRanker
from steward.contract.tool import Effect, Origin, ToolSpec
from steward.orchestrator.orchestrator import Orchestrator
from steward.orchestrator.registry import RegisteredTool
from steward.orchestrator.stages import note_result
from steward.selection.definitions import tokens
from steward.selection.requests import clauses

logger = logging.getLogger(__name__)

# Any object will do: the door validates, once, for everybody.
_ANY_ARGUMENTS = SchemaValidator(core_schema.dict_schema(keys_schema=core_schema.str_schema()))
_READ_RESULT = ToolDefinition(
    name=READ_RESULT,
    description="Read on in a result that was trimmed: its handle, and the character to start at.",
    parameters_json_schema={
        "type": "object",
        "properties": {"handle": {"type": "string"}, "offset": {"type": "integer", "minimum": 0}},
        "required": ["handle", "offset"],
    },
    metadata={"internal": True},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortlist:
    """Of the tools that others bring, offer those that fit what was said, once there are more than `limit`.

    The house's own are always there: instructions, readers and skills count on them.
    """

    ranker: ToolRanker
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOffer:
    """Which tools a run sees and what is known of them beyond their definition."""

    includes: Callable[[RegisteredTool], bool] = lambda _: True
    reader_of: Callable[[ToolSpec], str | None] = lambda _: None  # the planner's utterance reader for a tool
    procedures: tuple[str, ...] = ()  # the planner's procedures for a turn with these tools
    shortlist: Shortlist | None = None
    confidence: Confidence = no_confidence
    rating: Callable[[ToolSpec], str | None] = lambda _: None  # how risky a tool is, for the record
    bounds: ResultBounds = field(default_factory=ResultBounds)
    pays_tokens: bool = True  # whether what a model reads costs anything; the planner reads for nothing


class OrchestratorToolset(AbstractToolset[AgentSession]):
    """One instance serves every run; `for_run` gives each run its own kept results."""

    def __init__(self, orchestrator: Orchestrator, offer: ToolOffer | None = None) -> None:
        self._orchestrator = orchestrator
        self._offer = offer or ToolOffer()
        self._shelf = ResultShelf(self._offer.bounds)
        self._chosen: tuple[object, frozenset[str]] | None = None  # the shortlist, and for which tools

    @property
    def id(self) -> str:
        return "orchestrator"

    async def for_run(self, ctx: RunContext[AgentSession]) -> "OrchestratorToolset":  # noqa: ARG002
        return OrchestratorToolset(self._orchestrator, self._offer)

    async def get_tools(self, ctx: RunContext[AgentSession]) -> dict[str, ToolsetTool[AgentSession]]:
        specs = [
            tool.spec for tool in self._orchestrator.registry if tool.available and self._offer.includes(tool)
        ]
        shown = await self._shortlisted(specs, ctx)
        definitions = [
            define(spec, reader=self._offer.reader_of(spec), procedures=self._offer.procedures)
            for spec in shown
        ]
        return {
            definition.name: ToolsetTool(
                toolset=self, tool_def=definition, max_retries=2, args_validator=_ANY_ARGUMENTS
            )
            for definition in (*definitions, _READ_RESULT)
        }

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[AgentSession],
        tool: ToolsetTool[AgentSession],  # noqa: ARG002
    ) -> Any:
        if not isinstance(tool_args, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - a model's
            return failure(ErrorCode.INVALID_ARGUMENTS, "Arguments are a JSON object.")
        if name == READ_RESULT:
            return self._shelf.read(tool_args.get("handle"), tool_args.get("offset"))
        if ctx.tool_call_approved:
            return await self._decided(name, ctx)
        registered = self._orchestrator.registry.find(name)
        if registered is None:
            return failure(ErrorCode.TOOL_NOT_FOUND, f"There is no tool named '{name}' any more.")
        result = await self._call(registered.spec, tool_args, ctx)
        if isinstance(result, PendingApproval):
            raise ApprovalRequired(
                metadata={
                    "proposal_id": result.proposal_id,
                    "tool": name,
                    "risk": result.risk.value,
                    "reason": result.reason,
                    "correlation_id": result.correlation_id,
                }
            )
        return self._shelf.show(result)

    async def _call(
        self, spec: ToolSpec, arguments: Mapping[str, Any], ctx: RunContext[AgentSession]
    ) -> ToolResult:
        evidence = Evidence(
            tool=spec,
            arguments=arguments,
            utterance=ctx.deps.utterance or "",
            results=returned_texts(ctx.messages),
        )
        return await call_through(
            self._orchestrator,
            spec,
            arguments,
            session=ctx.deps,
            # In a thread: a ranker embeds, and other calls of this step are waiting.
            confidence=await asyncio.to_thread(self._confidence, evidence),
            risk=self._offer.rating(spec),
        )

    def _confidence(self, evidence: Evidence) -> float:
        try:
            return self._offer.confidence(evidence)
        except Exception:  # what cannot be judged is not trusted, and the call may still be harmless
            logger.exception("confidence_failed", extra={"tool": evidence.tool.name})
            return 0.0

    async def _decided(self, name: str, ctx: RunContext[AgentSession]) -> Any:
        """What became of a proposal. Nothing runs here: a person's yes already ran it, once."""
        said = ctx.tool_call_metadata
        proposal_id = (
            cast("Mapping[str, Any]", said).get("proposal_id") if isinstance(said, Mapping) else None
        )
        try:
            proposal = await self._orchestrator.approvals.get(str(proposal_id))
        except StewardError as error:
            return failure(error.code, error.explain())
        if (proposal.tool, proposal.user) != (name, ctx.deps.user):
            return failure(ErrorCode.FORBIDDEN, "That approval was for another call.")
        outcome = outcome_of(proposal)
        if outcome is None:
            raise ApprovalRequired(
                metadata={
                    "proposal_id": proposal.id,
                    "tool": proposal.tool,
                    "risk": proposal.risk.value,
                    "reason": proposal.reason,
                }
            )
        await note_decided(proposal, outcome, session=ctx.deps)
        known = self._orchestrator.registry.find(name)
        if known is not None:
            note_result(ctx.deps.run, known.spec, outcome, given=proposal.arguments)
        return self._shelf.show(outcome)

    async def _shortlisted(
        self, specs: Sequence[ToolSpec], ctx: RunContext[AgentSession]
    ) -> Sequence[ToolSpec]:
        shortlist = self._offer.shortlist
        utterance = ctx.deps.utterance
        brought = [spec for spec in specs if spec.origin is not Origin.BUILTIN]
        if shortlist is None or not utterance or len(brought) <= shortlist.limit:
            return specs
        key = tuple(spec.definition_hash for spec in brought)
        chosen = self._chosen if self._chosen is not None and self._chosen[0] == key else None
        if chosen is None:  # every step of a run ranks the same
            chosen = self._chosen = (key, await asyncio.to_thread(_best, shortlist, utterance, brought))
            await ctx.deps.watch.shown(_note_shown(ctx.deps, _kept(specs, chosen[1]), specs))
        return _kept(specs, chosen[1] | called_tools(ctx.messages))


def define(spec: ToolSpec, *, reader: str | None = None, procedures: Sequence[str] = ()) -> ToolDefinition:
    """A tool as a model sees it. Metadata is for the planner and is sent to nobody."""
    return ToolDefinition(
        name=spec.name,
        description=spec.description,
        parameters_json_schema=without_user(spec),
        sequential=not spec.parallel,
        metadata={
            "read_only": reads_only(spec),
            "examples": list(spec.examples),
            "category": spec.category,
            "title": spec.title,
            "returns": spec.output_schema,
            "reader": reader,
            "procedure": list(procedures),
        },
    )


def reads_only(spec: ToolSpec) -> bool | None:
    if spec.origin is Origin.BUILTIN:
        return spec.effect is Effect.READS
    return spec.hints.read_only


def without_user(spec: ToolSpec) -> dict[str, Any]:
    """The schema without the argument that says for whom: the session knows, and the door fills it in."""
    schema = dict(spec.input_schema)
    properties = schema.get("properties")
    if spec.user_argument is None or not isinstance(properties, Mapping):
        return schema
    shown = dict(cast("Mapping[str, Any]", properties))
    shown.pop(spec.user_argument, None)
    required = [
        name for name in cast("Sequence[str]", schema.get("required", ())) if name != spec.user_argument
    ]
    return {**schema, "properties": shown, "required": required}


def called_tools(messages: Sequence[ModelMessage]) -> set[str]:
    responses = [message for message in messages if isinstance(message, ModelResponse)]
    return {
        part.tool_name for message in responses for part in message.parts if isinstance(part, ToolCallPart)
    }


def returned_texts(messages: Sequence[ModelMessage]) -> list[str]:
    requests = [message for message in messages if isinstance(message, ModelRequest)]
    parts = [part for message in requests for part in message.parts if isinstance(part, ToolReturnPart)]
    return [as_text(cast("Any", part.content)) for part in parts]


def _kept(specs: Sequence[ToolSpec], chosen: Collection[str]) -> list[ToolSpec]:
    return [spec for spec in specs if spec.origin is Origin.BUILTIN or spec.name in chosen]


def _note_shown(session: AgentSession, shown: Sequence[ToolSpec], specs: Sequence[ToolSpec]) -> Shown:
    session.ledger.shown = Shown(len(shown), len(specs), tokens(specs) - tokens(shown))
    return session.ledger.shown


def _best(shortlist: Shortlist, utterance: str, specs: Sequence[ToolSpec]) -> frozenset[str]:
    """The best for the whole and for each of its commands in turn, so that a longer one crowds out none."""
    parts = dict.fromkeys((utterance, *clauses(utterance)))
    rankings = [shortlist.ranker.rank(part, specs, limit=shortlist.limit) for part in parts]
    in_turn = (each.tool.name for row in zip_longest(*rankings) for each in row if each is not None)
    return frozenset(islice(dict.fromkeys(in_turn), shortlist.limit))
