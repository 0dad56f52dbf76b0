"""The planner as a Pydantic AI model: no language model, no network, the same answer every time.

It is a planner, not a language model: it chooses among the tools it is given, fills their arguments from
what was said, and shows what they return. It writes no prose and knows no facts.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any, assert_never

import orjson
from pydantic_ai import ToolDefinition
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import CompletedStreamedResponse, Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext
from pydantic_ai.usage import RequestUsage

from steward.contract.ports import Embedder
from steward.conversations.clock import now_for_speaker
from steward.language.reading import RequestReader, ToolJudge
from steward.language.wishes import MOST, crowd
from steward.models.planner.asking_again import asked_again, counted
from steward.models.planner.decisions import Ask, Call, Decision, Several, Tell
from steward.models.planner.dialogue import CALL_ID, EACH, FOLLOWING, PLANNER, Dialogue, read_dialogue
from steward.models.planner.goals import GoalFinder
from steward.models.planner.one_by_one import AtOnce, behind, one_by_one
from steward.models.planner.output import structured
from steward.models.planner.plan import Planner
from steward.models.planner.procedures import ASKED, PROCEDURE, Completing, LastResort, Procedure
from steward.models.planner.ranking import KnownTool, Ranking
from steward.models.planner.readers import DateReader, Interpreter, plain_dates
from steward.models.planner.side_by_side import SideBySide, are_apart
from steward.models.planner.words import is_question
from steward.models.reader import taught_reader

KEPT_TOOLS = 20_000
KEPT_WISHES = 100  # that are over, of the turns that run
# What only procedures call: the whole of what is known answers no question by itself.
TOO_MANY = (
    f"I can't do so many things at once, and I did not do any of them. Could you tell me {MOST} at a time?"
)
OWN_STEPS = frozenset({"list_memories", "list_documents", "read_document", "show_record"})
INTERNAL = "internal"  # metadata of tools that serve the conversation itself and are never what is meant


class PlannerModel(Model):
    def __init__(
        self,
        *,
        embedder: Embedder | None = None,
        dates: DateReader | None = None,
        readers: Mapping[str, Interpreter] | None = None,
        procedures: Mapping[str, Procedure] | None = None,
        taught: RequestReader | None = None,  # the one that comes along, where none is given
        judge: ToolJudge | None = None,
        now: Callable[[], datetime] = now_for_speaker,
    ) -> None:
        super().__init__()
        self._finder = GoalFinder(
            Ranking(embedder),
            dates=dates or plain_dates,
            readers=readers or {},
            taught=taught or taught_reader(),
            judge=judge,
        )
        self._planner = Planner(self._finder)
        self._procedures = procedures or {}
        self._now = now
        self._known: dict[bytes, KnownTool] = {}
        self._told: OrderedDict[tuple[Any, ...], tuple[Dialogue, Decision]] = OrderedDict()
        self._parted: tuple[tuple[str, tuple[str, ...]], tuple[str, ...]] = (("", ()), ())

    @property
    def model_name(self) -> str:
        return PLANNER

    @property
    def system(self) -> str:
        return "steward"

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        _, parameters = self.prepare_request(model_settings, model_request_parameters)
        # In a thread: a step computes for some milliseconds, and other conversations are waiting.
        return await asyncio.to_thread(self._respond, messages, parameters)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,  # noqa: ARG002 - the interface's
    ) -> AsyncGenerator[StreamedResponse]:
        response = await self.request(messages, model_settings, model_request_parameters)
        yield CompletedStreamedResponse(
            response, model_request_parameters=model_request_parameters, replay_events=True
        )

    def _respond(self, messages: list[ModelMessage], parameters: ModelRequestParameters) -> ModelResponse:
        dialogue = read_dialogue(messages)
        tools = [
            self._know(each)
            for each in parameters.declared_function_tools
            if not (each.metadata or {}).get(INTERNAL)
        ]
        now = self._now()
        dialogue = self._in_full(dialogue, tools, now)
        again = asked_again(dialogue.asked, dialogue.utterance)
        several = not again and not dialogue.asked
        many = several and bool(self._named(tools)) and crowd(dialogue.utterance)
        wishes = self._wishes(dialogue.utterance, tools, now) if several and not many else ()
        if many:
            decision = Tell(text=TOO_MANY, confidence=1.0)
        elif wishes:
            decision = one_by_one(
                wishes,
                dialogue,
                lambda each: self._decide_once(each, tools, now),
                AtOnce(are_apart, SideBySide(tools).of_each_other),
            )
        else:
            decision = again or self._decide(dialogue, tools, now)
        if isinstance(decision, Ask):
            decision = counted(decision, dialogue.asked)
        details = _details(decision)
        if later := behind(decision, wishes):
            details[FOLLOWING] = list(later)
        return ModelResponse(
            parts=_parts(decision, dialogue, parameters),
            model_name=self.model_name,
            provider_name=self.system,
            provider_details={PLANNER: details} if details else None,
            usage=RequestUsage(cost=Decimal(0)),
        )

    def _decide(self, dialogue: Dialogue, tools: list[KnownTool], now: datetime) -> Decision:
        choices = [each for each in tools if each.name not in OWN_STEPS]
        decision = self._by_procedure(dialogue, tools, now) or self._planner.decide(dialogue, choices, now)
        if isinstance(decision, Tell) and decision.gap:
            return self._by_last_resort(dialogue, tools, now) or decision
        return decision

    def _decide_once(self, wish: Dialogue, tools: list[KnownTool], now: datetime) -> Decision:
        """A wish of several that is over is looked at again with every step of those behind it."""
        names, minute = tuple(tool.name for tool in tools), now.replace(second=0, microsecond=0)
        key = (wish.utterance, len(wish.steps), len(wish.earlier), names, minute)
        known = self._told.get(key)
        if known is not None and known[0] == wish:
            return known[1]
        decision = self._decide(wish, tools, now)
        if isinstance(decision, Ask | Tell):
            self._told[key] = (wish, decision)
            while len(self._told) > KEPT_WISHES:
                self._told.popitem(last=False)
        return decision

    def _wishes(self, utterance: str, tools: list[KnownTool], now: datetime) -> Sequence[str]:
        """Only procedures do one thing after another that no reading of the whole could hold."""
        if not self._named(tools):
            return ()
        key = (utterance, tuple(tool.name for tool in tools))
        if self._parted[0] != key:  # the same for all steps of a turn
            choices = [each for each in tools if each.name not in OWN_STEPS]
            wishes = tuple(self._finder.wishes(utterance, choices, now))
            # The parts of a question belong together: whoever answers it parts it.
            self._parted = (key, () if all(map(is_question, wishes)) else wishes)
        return self._parted[1]

    def _named(self, tools: list[KnownTool]) -> list[Procedure]:
        named = dict.fromkeys(name for tool in tools for name in _named_procedures(tool))
        return [self._procedures[name] for name in named if name in self._procedures]

    def _in_full(self, dialogue: Dialogue, tools: list[KnownTool], now: datetime) -> Dialogue:
        if not dialogue.asked:
            dialogue = replace(dialogue, utterance=self._finder.after_small_talk(dialogue.utterance))
        for each in self._named(tools):
            if isinstance(each, Completing):
                dialogue = each.complete(dialogue, now)
        return dialogue

    def _by_last_resort(self, dialogue: Dialogue, tools: list[KnownTool], now: datetime) -> Decision | None:
        helpers = [each for each in self._named(tools) if isinstance(each, LastResort)]
        return next((found for each in helpers if (found := each.rescue(dialogue, tools, now))), None)

    def _by_procedure(self, dialogue: Dialogue, tools: list[KnownTool], now: datetime) -> Decision | None:
        procedures = self._named(tools)
        if not procedures or (dialogue.asked or {}).get("kind", ASKED) != ASKED:
            return None  # an open question of the planner's own comes first
        ranked = self._finder.rank(dialogue.utterance, tools)
        for procedure in procedures:
            decision = procedure.decide(dialogue, tools, ranked=ranked, now=now)
            if decision is not None:
                return decision
        return None

    def _know(self, definition: ToolDefinition) -> KnownTool:
        """Definitions come anew with every step; what was worked out about equal ones is kept."""
        parts = (
            definition.name,
            definition.description,
            definition.parameters_json_schema,
            definition.return_schema,
            definition.metadata,
        )
        key = orjson.dumps(parts, default=str, option=orjson.OPT_NON_STR_KEYS)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= KEPT_TOOLS:
                self._known.clear()
            known = self._known[key] = KnownTool(definition)
        return known


def _named_procedures(tool: KnownTool) -> tuple[str, ...]:
    named = tool.metadata.get(PROCEDURE) or ()
    return (named,) if isinstance(named, str) else tuple(map(str, named))


def _details(decision: Decision) -> dict[str, Any]:
    match decision:
        case Call():
            details: dict[str, Any] = {
                "goal": decision.goal,
                "helper": decision.helper,
                "confidence": decision.confidence,
            }
            return details | ({"memo": dict(decision.memo)} if decision.memo else {})
        case Several():
            return {EACH: [_details(each) for each in decision.calls]}
        case Ask():
            return {"asked": dict(decision.state)}
        case Tell():
            gap = {"gap": True, "looked": decision.looked} if decision.gap else {}
            return {"confidence": decision.confidence} | gap
        case _:
            assert_never(decision)


def _parts(
    decision: Decision, dialogue: Dialogue, parameters: ModelRequestParameters
) -> list[TextPart | ToolCallPart]:
    match decision:
        case Call():
            return [_call(decision.tool, decision.arguments, dialogue.calls_made + 1)]
        case Several():
            numbered = enumerate(decision.calls, dialogue.calls_made + 1)
            return [_call(each.tool, each.arguments, number) for number, each in numbered]
        case Ask() | Tell():
            if parameters.allow_text_output or not parameters.output_tools:
                return [TextPart(decision.text if isinstance(decision, Tell) else decision.question)]
            tool = parameters.output_tools[0]
            filled = structured(tool, decision, dialogue.steps)
            return [_call(tool.name, filled, dialogue.calls_made + 1)]
        case _:
            assert_never(decision)


def _call(tool: str, arguments: Mapping[str, Any], number: int) -> ToolCallPart:
    """Its id is unique in its history, and the same when the step is repeated."""
    return ToolCallPart(tool, dict(arguments), tool_call_id=CALL_ID.format(number))
