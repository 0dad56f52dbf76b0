"""The tools that run on this machine: Python tools of tools.json, code_execution, request_human_input."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

from steward.contract.questions import QuestionStore
from steward.orchestrator.orchestrator import Orchestrator
from steward.policy.rules import Rules
from steward.providers.code_execution import code_execution_tool
from steward.providers.containment.plan import Containment, Mechanism
from steward.providers.functions import LegacyToolAgent
from steward.providers.human_input import request_human_input_tool
from steward.providers.mcp.secrets import MappingSource, Secrets
from steward.providers.scripts.registry_writer import RegistryWriter
from steward.providers.scripts.script_agent import ScriptToolsAgent
from steward.providers.scripts.tools_config import ToolsFile
from steward.providers.scripts.workers import WorkerPool, Workplace
from steward.settings import DOTENV, Settings, environment, variables
from steward.storage.database.host import socket_place
from steward.telemetry.masking import MASKER

AGENT = "workbench"
CODE_FOLDER = "code"


@dataclass(frozen=True, slots=True)
class Workshop:
    """tools.json as an agent, and the one way to change it."""

    agent: ScriptToolsAgent
    writer: RegistryWriter


def _contained(settings: Settings, mechanism: Mechanism, rules: Callable[[], Rules]) -> Containment:
    """Nothing of Steward's own is seen by code: its home, its database's socket, its settings file."""
    sockets = socket_place(settings.database_folder.expanduser().resolve() / "data")
    return Containment(
        mechanism=mechanism,
        hidden=(settings.home, sockets, Path.cwd() / DOTENV),
        rules=lambda: rules().contain,
    )


def open_workshop(
    settings: Settings,
    orchestrator: Orchestrator,
    *,
    questions: QuestionStore,
    held: Mechanism,
    rules: Callable[[], Rules],
    shared: Callable[[], AbstractAsyncContextManager[None]],
) -> Workshop:
    """Registers both agents. A tools.json that is broken halts here, before anything was started.

    `held`: what keeps their code from the rest of this machine; within `shared` tools.json is changed."""
    containment = _contained(settings, held, rules)
    file = ToolsFile(settings.tools_folder)
    file.load()
    pool = WorkerPool(place=Workplace(containment, environment()))
    secrets = Secrets(MappingSource(variables()), on_value=lambda value: MASKER.register((value,)))
    agent = ScriptToolsAgent(file, pool=pool, secrets=secrets)
    orchestrator.register_agent(agent)
    orchestrator.register_agent_factory(AGENT, lambda: _workbench(settings, questions, containment))

    def owner(name: str) -> str | None:
        tool = orchestrator.registry.find(name)
        return None if tool is None else tool.agent_id

    return Workshop(agent, RegistryWriter(agent, owner=owner, shared=shared))


def _workbench(settings: Settings, questions: QuestionStore, containment: Containment) -> LegacyToolAgent:
    folder = settings.home / CODE_FOLDER
    material = (settings.skills_folder, settings.uploads_folder)
    code = code_execution_tool(folder, containment=containment, environment=environment(), material=material)
    return LegacyToolAgent(
        AGENT,
        [code, request_human_input_tool(questions)],
        name="Code and people",
        capabilities=("code", "human_input"),
    )
