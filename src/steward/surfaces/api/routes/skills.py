"""Routes on skills: which there are, what they teach, and which of them cannot be read."""

from pathlib import Path
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from steward.agents.skills.book import SHIPPED, Skill, Unusable
from steward.bootstrap import Platform
from steward.surfaces.api.identity import Reader
from steward.surfaces.api.paging import After, Limit, cut
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1/skills", tags=["skills"])


class SkillItem(BaseModel):
    name: str = Field(examples=["csv-summary"])
    description: str = Field(description="When it is used; it is found by this.")
    allowed_tools: list[str] = Field(description="What it is kept to; empty means any.")
    unknown_tools: list[str] = Field(description="Those of them that nobody provides now.")
    folder: str = Field(description="Where it lies.")
    shipped: bool = Field(description="Whether it came with Steward.")
    problem: str | None = Field(default=None, description="Why it cannot be used, where it cannot.")

    @classmethod
    def of(cls, skill: Skill, platform: Platform) -> "SkillItem":
        return cls(**_told(skill, platform))


class SkillWhole(SkillItem):
    instructions: str
    examples: list[str]
    files: list[str] = Field(description="Beside its SKILL.md.")
    run: str | None = Field(description="How it runs without a language model.")
    parameters: dict[str, Any] | None = Field(description="What that needs, as a JSON Schema.")


class SkillList(BaseModel):
    items: list[SkillItem]
    next: str | None = None


@router.get("")
async def list_skills(platform: Here, _: Reader, limit: Limit = 1_000, after: After = None) -> SkillList:
    """By name. A folder that cannot be read stands among them with what is wrong with it."""
    book = platform.skills
    items = [SkillItem.of(each, platform) for each in book.skills()]
    items += [_broken(each) for each in book.unusable()]
    page, following = cut(items, limit=limit, after=after, key=lambda item: f"{item.name} {item.folder}")
    return SkillList(items=list(page), next=following)


@router.get("/{name}")
async def get_skill(platform: Here, name: str, _: Reader) -> SkillWhole:
    """One of them with its instructions."""
    skill = platform.skills.get(name)
    return SkillWhole(
        **_told(skill, platform),
        instructions=skill.instructions,
        examples=list(skill.examples),
        files=list(skill.files),
        run=skill.run,
        parameters=dict(skill.parameters) or None,
    )


def _told(skill: Skill, platform: Platform) -> dict[str, Any]:
    registry = platform.orchestrator.registry
    return {
        "name": skill.name,
        "description": skill.description,
        "allowed_tools": list(skill.allowed_tools),
        "unknown_tools": [name for name in skill.allowed_tools if registry.find(name) is None],
        "folder": str(skill.folder),
        "shipped": _is_shipped(skill.folder),
    }


def _broken(unusable: Unusable) -> SkillItem:
    return SkillItem(
        name=unusable.folder.name,
        description="",
        allowed_tools=[],
        unknown_tools=[],
        folder=str(unusable.folder),
        shipped=_is_shipped(unusable.folder),
        problem=unusable.problem,
    )


def _is_shipped(folder: Path) -> bool:
    return folder.is_relative_to(SHIPPED)
