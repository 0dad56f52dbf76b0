"""The tools that run on this machine: Python tools of tools.json, code_execution, request_human_input."""

from dataclasses import dataclass

from steward.contract.questions import QuestionStore
from steward.orchestrator.orchestrator import Orchestrator
from steward.providers.code_execution import code_execution_tool, without_secrets
from steward.providers.functions import LegacyToolAgent
from steward.providers.human_input import request_human_input_tool
from steward.providers.registry_writer import RegistryWriter
from steward.providers.scripts import ScriptToolsAgent
from steward.providers.tools_config import ToolsFile
from steward.settings import Settings, environment

AGENT = "workbench"
CODE_FOLDER = "code"


@dataclass(frozen=True, slots=True)
class Workshop:
    """tools.json as an agent, and the one way to change it."""

    agent: ScriptToolsAgent
    writer: RegistryWriter


def open_workshop(settings: Settings, orchestrator: Orchestrator, *, questions: QuestionStore) -> Workshop:
    """Registers both agents. A tools.json that is broken halts here, before anything was started."""
    file = ToolsFile(settings.tools_folder)
    file.load()
    agent = ScriptToolsAgent(file)
    orchestrator.register_agent(agent)
    orchestrator.register_agent_factory(AGENT, lambda: _workbench(settings, questions))

    def owner(name: str) -> str | None:
        tool = orchestrator.registry.find(name)
        return None if tool is None else tool.agent_id

    return Workshop(agent, RegistryWriter(agent, owner=owner))


def _workbench(settings: Settings, questions: QuestionStore) -> LegacyToolAgent:
    code = code_execution_tool(settings.home / CODE_FOLDER, environment=without_secrets(environment()))
    return LegacyToolAgent(
        AGENT,
        [code, request_human_input_tool(questions)],
        name="Code and people",
        capabilities=("code", "human_input"),
    )
