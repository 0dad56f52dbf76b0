"""Skills through the door: finding one, and opening it. Owns what a model or a client gets to see of them."""

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from steward.agents.skills.book import Skill, SkillBook
from steward.contract.tool import Effect, Origin, RiskLevel, ToolHints, ToolSpec
from steward.providers.functions import FunctionTool, LegacyToolAgent

AGENT = "skills"
FIND, USE = "find_skills", "use_skill"
_READS = ToolHints(read_only=True, destructive=False, idempotent=True, open_world=False)


def skills_agent(book: SkillBook) -> LegacyToolAgent:
    return LegacyToolAgent(AGENT, [_find(book), _use(book)], name="Skills", capabilities=("skills",))


def _find(book: SkillBook) -> FunctionTool:
    async def find(query: str) -> dict[str, Any]:
        found = await asyncio.to_thread(book.find, query)
        return {
            "items": [
                {"name": each.skill.name, "description": each.skill.description, "score": each.score}
                for each in found
            ]
        }

    return FunctionTool(
        _spec(
            FIND,
            "Find skills: instructions for how something is done here. Use it for a task of several steps. "
            "Prefer use_skill when the skill's name is known.",
            {"query": {"type": "string", "minLength": 1, "maxLength": 2_000, "description": "The task."}},
        ),
        find,
    )


def _use(book: SkillBook) -> FunctionTool:
    async def use(name: str) -> dict[str, Any]:
        return opened(await asyncio.to_thread(book.get, name))

    return FunctionTool(
        _spec(
            USE,
            "Open a skill by its name: its instructions, the tools it allows, and its scripts. "
            "Prefer find_skills when the name is not known.",
            {"name": {"type": "string", "minLength": 1, "maxLength": 64, "description": "The skill's name."}},
        ),
        use,
    )


def opened(skill: Skill) -> dict[str, Any]:
    return {
        "name": skill.name,
        "instructions": skill.instructions,
        "allowed_tools": list(skill.allowed_tools),
        "folder": str(skill.folder),
        "files": list(skill.files),
        "run": skill.run,
        "parameters": dict(skill.parameters) or None,
    }


def mapping(data: Any) -> Mapping[str, Any]:
    """What `use_skill` or a run of one answered with; nothing where that is no object."""
    return cast("Mapping[str, Any]", data) if isinstance(data, Mapping) else dict[str, Any]()


def _spec(name: str, description: str, properties: Mapping[str, Any]) -> ToolSpec:
    return ToolSpec(
        name=name,
        description=description,
        input_schema={
            "type": "object",
            "properties": dict(properties),
            "required": list(properties),
            "additionalProperties": False,
        },
        origin=Origin.BUILTIN,
        risk=RiskLevel.REVERSIBLE,
        effect=Effect.READS,
        hints=_READS,
        category="skills",
    )
