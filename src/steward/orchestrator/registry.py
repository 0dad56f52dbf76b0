"""Which tools there are and which agent provides each.

Owns names: duplicates, aliases, namespaces, categories. Does not own agents' lives (lifecycle.py).
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from steward.contract.agent import Agent, AgentManifest, ChangingAgent, RenewingAgent, TellingAgent
from steward.contract.errors import AgentError, ErrorCode, InvalidSchemaError, NotFoundError
from steward.contract.schema import CompiledSchema, compile_schema
from steward.contract.tool import ToolSpec

logger = logging.getLogger(__name__)

NAMESPACE_SEPARATOR = "__"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredTool:
    spec: ToolSpec
    agent_id: str
    agent: Agent
    agent_requires_approval: bool
    input: CompiledSchema
    output: CompiledSchema | None
    changing: ChangingAgent | None = field(compare=False)  # the agent, where it can come and go
    telling: TellingAgent | None = field(compare=False)  # the agent, where it can say what a call would do
    renewing: RenewingAgent | None = field(compare=False)  # the agent, where what runs may change under it
    turn: asyncio.Lock | None = field(
        compare=False
    )  # one call at a time, for tools that cannot run in parallel

    @property
    def available(self) -> bool:
        return self.reachable and self.spec.blocked is None

    @property
    def reachable(self) -> bool:
        return self.changing is None or self.changing.available()


def namespace_of(tool_name: str) -> str | None:
    head, separator, _ = tool_name.partition(NAMESPACE_SEPARATOR)
    return head if separator and head else None


class Registry:
    def __init__(self) -> None:
        self._tools: dict[str, RegisteredTool] = {}
        self._names: dict[str, str] = {}  # every name and alias -> the tool's own name
        self._agents: dict[str, Agent] = {}
        self._listeners: list[Callable[[], None]] = []

    def subscribe(self, listener: Callable[[], None]) -> None:
        """`listener` runs after every change of the tools. It must not raise."""
        self._listeners.append(listener)

    def _changed(self) -> None:
        for listener in self._listeners:
            listener()

    def __iter__(self) -> Iterator[RegisteredTool]:
        """The tools that anybody is shown."""
        return iter([tool for tool in self._tools.values() if tool.spec.listed])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def agents(self) -> tuple[Agent, ...]:
        return tuple(self._agents.values())

    def find(self, name: str) -> RegisteredTool | None:
        own_name = self._names.get(name)
        return None if own_name is None else self._tools[own_name]

    def get(self, name: str) -> RegisteredTool:
        tool = self.find(name)
        if tool is None:
            raise NotFoundError(
                f"There is no tool named '{name}'.",
                code=ErrorCode.TOOL_NOT_FOUND,
                fix=self._suggestion(name),
            )
        return tool

    def current(self, name: str) -> RegisteredTool:
        """The tool as it is at this moment, also where files behind it have changed."""
        tool = self.get(name)
        if tool.renewing is None:
            return tool
        tool.renewing.renew(tool.spec.name)
        return self.get(name)

    def select(
        self, *, namespace: str | None = None, category: str | None = None, agent: str | None = None
    ) -> tuple[RegisteredTool, ...]:
        return tuple(
            tool
            for tool in self._tools.values()
            if (namespace is None or namespace_of(tool.spec.name) == namespace)
            and (category is None or tool.spec.category == category)
            and (agent is None or tool.agent_id == agent)
        )

    def add(self, agent: Agent) -> None:
        """Register every tool of an agent that nobody else provides yet."""
        manifest = agent.manifest()
        if manifest.id in self._agents:
            raise AgentError(
                f"An agent named '{manifest.id}' is registered already.",
                code=ErrorCode.AGENT_DUPLICATE,
                fix="Give it another id, or stop the other one first.",
            )
        self._agents[manifest.id] = agent
        self._put(agent, manifest)
        self._changed()

    def refresh(self, agent_id: str) -> None:
        """Read an agent's manifest again. Calls in flight keep the tool they resolved."""
        agent = self._agents[agent_id]
        manifest = agent.manifest()  # before anything is dropped: it may fail
        before = {tool.spec.name: tool for tool in self.select(agent=agent_id)}
        self._drop_tools(before)
        self._put(agent, manifest, before=before)
        self._changed()

    def remove(self, agent_id: str) -> None:
        if self._agents.pop(agent_id, None) is not None:
            self._drop_tools(tool.spec.name for tool in self.select(agent=agent_id))
            self._changed()

    def _drop_tools(self, names: Iterable[str]) -> None:
        gone = set(names)
        for name in gone:
            del self._tools[name]
        self._names = {alias: name for alias, name in self._names.items() if name not in gone}

    def _put(
        self, agent: Agent, manifest: AgentManifest, before: dict[str, RegisteredTool] | None = None
    ) -> None:
        for spec in manifest.tools:
            owner = self._tools.get(spec.name)  # an alias yields to a tool's own name
            if owner is not None:
                logger.warning(
                    "tool_duplicate",
                    extra={"tool": spec.name, "agent": manifest.id, "kept_agent": owner.agent_id},
                )
                continue
            try:
                entry = _entry(spec, agent, manifest, known=(before or {}).get(spec.name))
            except InvalidSchemaError as error:
                logger.warning(
                    "tool_schema_invalid",
                    extra={"tool": spec.name, "agent": manifest.id, "problem": error.message},
                )
                continue
            self._tools[spec.name] = entry
            self._names[spec.name] = spec.name
            for alias in spec.aliases:
                self._names.setdefault(alias, spec.name)

    def _suggestion(self, name: str) -> str:
        import difflib  # only on this error path, which no fast call takes  # noqa: PLC0415

        near = difflib.get_close_matches(name[:80], self._names, n=3, cutoff=0.6)
        return f"Did you mean {' or '.join(near)}?" if near else "See 'steward tools list'."


def _entry(
    spec: ToolSpec, agent: Agent, manifest: AgentManifest, *, known: RegisteredTool | None
) -> RegisteredTool:
    turn = None if spec.parallel else (known.turn if known and known.turn else asyncio.Lock())
    return RegisteredTool(
        spec=spec,
        agent_id=manifest.id,
        agent=agent,
        agent_requires_approval=manifest.requires_approval,
        input=compile_schema(spec.input_schema),
        output=None if spec.output_schema is None else compile_schema(spec.output_schema),
        # Asked once: looking a protocol up costs more than the rest of the way through the door.
        changing=agent if isinstance(agent, ChangingAgent) else None,
        telling=agent if isinstance(agent, TellingAgent) else None,
        renewing=agent if isinstance(agent, RenewingAgent) else None,
        turn=turn,
    )
