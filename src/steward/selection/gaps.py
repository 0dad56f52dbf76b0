"""Saying honestly that no tool can do what was asked.

Owns the comparison of what a request needs with what the tools of an MCP session can do, and the report on
what is missing. Reaches a language model only through `CapabilityExtractor`, tools only through the session.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast, runtime_checkable

from pydantic import BaseModel, Field

from steward.contract.ports import Capability, CapabilityExtractor, TextReader, ToolRanker
from steward.contract.tool import ToolSpec
from steward.language.acts import ReadActs
from steward.language.thresholds import DEFAULT
from steward.selection.capabilities import AbilityKind, LexiconExtractor, Need, kind_named, suggestions
from steward.selection.definitions import UNSAFE, Definition, name_words
from steward.selection.fit import FitJudge, Judged, doubted, with_own_verb
from steward.selection.lexical import LexicalRanker
from steward.selection.requests import bare, snake_case, speaks_of_own

CANDIDATES = 20  # tools that are looked at closely
NEAREST = 3
MOST_NAMED = 12  # of the tools that were checked, in words for a person
CLOSE = 8  # tools that are looked at once more where it is known what kind is wanted
ON_ITS_OWN = 0.6  # nearness from which a clause of a longer request asks for something of its own
SURE = 0.7  # nearness from which it is known which kind of tool is wanted
_OWN = frozenset({"memory", "memories", "knowledge"})
_SEARCHED = _OWN | {"web", "internet"}
_RUN = frozenset({"run", "execute", "execution", "interpreter", "interpret", "eval", "evaluate", "sandbox"})
_PROGRAM = frozenset({"code", "python", "javascript", "script", "program", "shell", "notebook"})


class ToolSession(Protocol):
    """What a detector needs of an MCP session: `mcp.ClientSession` and FastMCP's client both have it."""

    async def list_tools(self, *, params: Any = ...) -> Any: ...


@runtime_checkable
class ChangingSession(Protocol):
    """A session whose servers come and go."""

    def absences(self) -> list[str]:
        """Which of them are not there now, in words."""
        ...


class NearTool(BaseModel):
    """A tool that comes close, and why it does not do."""

    tool: str
    fit: float
    why: str


class Suggestion(BaseModel):
    """A known MCP server that would close a gap."""

    server: str
    about: str
    install: str


class ToolGapReport(BaseModel):
    """What is missing for a task. Says nothing about the task's answer: there is none."""

    missing_tools: list[str] = Field(description="Stable snake_case names of the missing abilities.")
    attempted_task: str
    existing_tools_checked: list[str]
    nearest: list[NearTool] = []
    suggestions: list[Suggestion] = []
    absences: list[str] = Field(default=[], description="Servers that could not be looked at.")
    writes_no_program: bool = Field(default=False, description="A program might do it; nobody writes one.")

    def explain(self) -> str:
        """The report in words for a person."""
        missing = ", ".join(name.replace("_", " ") for name in self.missing_tools)
        lines = [f"I have no tool for this: {missing}. I did nothing. I checked {self._checked()}."]
        if self.writes_no_program:
            lines.append(
                "It may take a program, and without a language model I write none: give me the code to run, "
                "or set STEWARD_MODEL."
            )
        lines += self.absences
        if self.nearest:
            lines.append(
                "Nearest: " + "; ".join(f"`{near.tool}` ({near.why})" for near in self.nearest) + "."
            )
        if not self.suggestions:
            lines.append(
                "To add it, put an MCP server in mcp.json or a Python tool of your own in tools.json."
            )
        else:
            offers = [
                f"{each.server} ({each.about.rstrip('.')}: {each.install})" for each in self.suggestions
            ]
            lines.append(
                "To add it, put an MCP server in mcp.json, for example " + ", or ".join(offers) + "."
            )
        return "\n".join(lines)

    def _checked(self) -> str:
        names = [f"`{name}`" for name in self.existing_tools_checked]
        more = len(names) - MOST_NAMED
        shown = ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
        return f"{len(names)} tool{'' if len(names) == 1 else 's'}" + (f": {shown}" if names else "")


@dataclass(frozen=True, slots=True)
class GapAssessment:
    """How sure it is that something is missing, with the report that would be given."""

    gap: float  # probability
    report: ToolGapReport | None


@dataclass(frozen=True, slots=True)
class _Finding:
    need: Need
    covered: float  # probability that some tool does it
    nearest: Sequence[Judged]


class GapFinder:
    def __init__(
        self,
        mcp_session: ToolSession,
        *,
        reader: TextReader,
        extractor: CapabilityExtractor | None = None,
        judge: FitJudge | None = None,
        ranker: ToolRanker | None = None,
        acts: ReadActs | None = None,
        writes: bool = False,
    ) -> None:
        """`writes`: a language model is at hand that writes text without any tool."""
        self._session = mcp_session
        self._lexicon = LexiconExtractor(reader, acts=acts)
        self._extractor = extractor
        self._judge = judge or FitJudge(reader)
        self._ranker = ranker or LexicalRanker()
        self._writes = writes
        self.tools: tuple[ToolSpec, ...] = ()  # as last listed, with their schemas

    async def detect_missing_tools(
        self, task_description: str, *, tried: Collection[str] = ()
    ) -> ToolGapReport | None:
        """What is missing for this task; None when the tools at hand can do it, or nothing is asked for.

        `tried`: tools that searched what is known here and found nothing.
        """
        return (await self.assess(task_description, tried=tried)).report

    async def name_needs(self, task_description: str) -> list[str]:
        """What a task needs, by name, for who has found already that there is no tool for it."""
        needs = await self._needs(task_description)
        return list(
            dict.fromkeys(need.capability.name for need in needs if need.kind is not AbilityKind.TALK)
        )

    async def assess(self, task_description: str, *, tried: Collection[str] = ()) -> GapAssessment:
        self.tools = await _listed(self._session)
        needs = await self._needs(task_description)
        findings = await asyncio.to_thread(self._findings, task_description, needs, tried)
        gap = max((1 - finding.covered for finding in findings), default=0.0)
        missing = [finding for finding in findings if finding.covered < DEFAULT.judged]
        return GapAssessment(gap, self._report(task_description, missing) if missing else None)

    async def _needs(self, task: str) -> list[Need]:
        read = await asyncio.to_thread(self._lexicon.needs, task)
        if self._extractor is None or all(need.kind is AbilityKind.TALK for need in read):
            return read
        wanted = await self._extractor.extract(task)
        return [_need(capability, read) for capability in wanted]

    def _findings(self, task: str, needs: Sequence[Need], tried: Collection[str]) -> list[_Finding]:
        # A question may still be answered elsewhere; what is to be done, no search that found nothing does.
        left = [tool for tool in self.tools if tool.name not in tried]
        tools = {kind: left if kind is AbilityKind.SYSTEM else self.tools for kind in AbilityKind}
        found = [self._find(need, tools[need.kind]) for need in needs if need.kind is not AbilityKind.TALK]
        if len(found) < 2 or all(finding.covered >= DEFAULT.judged for finding in found):
            return found
        # A clause that does not clearly name an ability of its own is done with the whole.
        whole = max((judged.fit for judged in self._judged(task, left)), default=0.0)
        return [
            finding
            if finding.need.nearness >= ON_ITS_OWN
            else replace(finding, covered=max(finding.covered, whole))
            for finding in found
        ]

    def _find(self, need: Need, tools: Sequence[ToolSpec]) -> _Finding:
        judged = self._judged(need.clause, tools)
        if need.kind is AbilityKind.SYSTEM and need.nearness >= SURE:
            close = [self._for_kind(each, need) for each in judged[:CLOSE]]
            judged = sorted(close, key=lambda each: -each.fit)
        if need.kind is AbilityKind.SYSTEM:  # a search does nothing in the world
            seen = [doubted(each) if looks_things_up(each.definition.spec) else each for each in judged]
            judged = sorted(seen, key=lambda each: -each.fit)
        best = judged[0].fit if judged else 0.0
        known_to = looks_own_things_up if speaks_of_own(need.clause) else looks_things_up
        if need.kind is AbilityKind.LOOKUP and any(map(known_to, tools)):
            best = max(best, 0.9)
        if any(
            snake_case(tool.name) == need.capability.name for tool in tools
        ):  # a model named the tool itself
            best = max(best, 0.9)
        if need.kind is AbilityKind.COMPUTING and any(map(runs_code, tools)):
            best = max(best, 0.9)
        if need.kind is AbilityKind.WRITING and self._writes:
            best = max(best, 0.9)
        return _Finding(need, best, judged[:NEAREST])

    def _takes_a_program(self, finding: _Finding) -> bool:
        """Whether something is to be worked out: then a program might do what no tool does."""
        computes = self._lexicon.nearest_kind(finding.need.clause) is AbilityKind.COMPUTING
        return computes and any(map(runs_code, self.tools))

    def _for_kind(self, judged: Judged, need: Need) -> Judged:
        if judged.evidence is None:
            return judged
        return judged.for_kind(self._lexicon.kinship(need.capability.name, judged.definition.whole))

    def _judged(self, clause: str, tools: Sequence[ToolSpec]) -> list[Judged]:
        near = tools
        if len(tools) > 2 * CANDIDATES:
            # The nearest, and some others that they must stand out from.
            near = [each.tool for each in self._ranker.rank(clause, tools, limit=CANDIDATES)]
            near += [tool for tool in tools[:: len(tools) // CANDIDATES] if tool not in near]
        return with_own_verb(bare(clause), self._judge.judge(clause, [Definition(tool) for tool in near]))

    def _report(self, task: str, missing: Sequence[_Finding]) -> ToolGapReport:
        names = list(dict.fromkeys(finding.need.capability.name for finding in missing))
        near: dict[str, NearTool] = {}
        for finding in missing:
            for judged in finding.nearest:
                name = judged.definition.spec.name
                why = f"it is for: {judged.definition.opening.rstrip('.')}"
                near.setdefault(name, NearTool(tool=name, fit=round(judged.fit, 3), why=why))
        return ToolGapReport(
            missing_tools=names,
            attempted_task=task,
            existing_tools_checked=[tool.name for tool in self.tools],
            writes_no_program=not self._writes and any(map(self._takes_a_program, missing)),
            absences=self._session.absences() if isinstance(self._session, ChangingSession) else [],
            nearest=sorted(near.values(), key=lambda each: -each.fit)[:NEAREST],
            suggestions=[
                Suggestion(server=each.name, about=each.about, install=each.install)
                for each in suggestions(names)
            ],
        )


def looks_things_up(tool: ToolSpec) -> bool:
    """Whether it searches the web, documents or memory for whatever it is asked."""
    return _searches(tool, _SEARCHED)


def looks_own_things_up(tool: ToolSpec) -> bool:
    """Whether it searches what the person has told or filed."""
    return _searches(tool, _OWN)


def _searches(tool: ToolSpec, places: frozenset[str]) -> bool:
    said = set(name_words(tool.name).split())
    return bool(said & {"search", "query"} and said & places)


def runs_code(tool: ToolSpec) -> bool:
    """Whether it runs any program: then it computes whatever can be computed."""
    said = set(name_words(tool.name).split())
    return bool(said & _RUN and said & _PROGRAM)


def _need(capability: Capability, read: Sequence[Need]) -> Need:
    """A capability that a model named, with the kind that the lexicon knows for it."""
    name = snake_case(capability.name)
    known = next((need for need in read if need.capability.name == name), None)
    if known is not None:
        return known
    kind = kind_named(name)
    if kind is None:
        kind = (
            AbilityKind.LOOKUP
            if all(need.kind is AbilityKind.LOOKUP for need in read)
            else AbilityKind.SYSTEM
        )
    return Need(Capability(name, capability.description), kind, capability.description, 0.0)


class _Page(dict[str, str]):
    """MCP's pagination parameters: a mapping for its validation, with the attribute that its client reads."""

    @property
    def cursor(self) -> str:
        return self["cursor"]


async def _listed(session: ToolSession) -> tuple[ToolSpec, ...]:
    """Every tool of a session, page by page, whichever MCP client it is."""
    found = await session.list_tools()
    if isinstance(found, list):
        return tuple(map(_spec, cast("list[Any]", found)))
    specs = list(map(_spec, found.tools))
    while cursor := getattr(found, "next_cursor", None):
        found = await session.list_tools(params=_Page(cursor=cursor))
        specs += map(_spec, found.tools)
    return tuple(specs)


def _spec(tool: Any) -> ToolSpec:
    if isinstance(tool, ToolSpec):  # our own registry lists what it has
        return tool
    schema: Mapping[str, Any] | None = tool.input_schema
    return ToolSpec(
        name=UNSAFE.sub("_", str(tool.name))[:64],  # what we call it; a server may call it anything
        description=str(tool.description or ""),
        input_schema=schema or {"type": "object"},
    )
