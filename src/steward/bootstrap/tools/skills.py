"""The skills of a home, with those that come along, behind the door."""

from steward.agents.skills.book import SHIPPED, SkillBook
from steward.agents.skills.tools import AGENT, skills_agent
from steward.contract.ports import Embedder
from steward.orchestrator.orchestrator import Orchestrator
from steward.settings import Settings


def open_skills(settings: Settings, orchestrator: Orchestrator, embedder: Embedder) -> SkillBook:
    book = SkillBook((SHIPPED, settings.skills_folder), embedder=embedder)
    orchestrator.register_agent_factory(AGENT, lambda: skills_agent(book))
    return book
