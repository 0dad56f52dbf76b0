"""The assistant: does what there is a tool or a skill for, and answers the rest itself.

Owns its words and how it learns of skills: those that fit what was said are named to the model each turn, and
opened by it when needed. Which tools there are, and what they may do, is the door's.
"""

import asyncio
from collections.abc import Callable, Sequence

from pydantic_ai import Agent, DeferredToolRequests, RunContext

from steward.agents.profile import Conduct, Guard, Profile
from steward.agents.session import AgentSession
from steward.agents.skills.book import SkillBook
from steward.agents.skills.tools import USE
from steward.agents.turn.toolset import ToolOffer

NAME = "assistant"
NAMED_SKILLS = 3
INSTRUCTIONS = """You are Steward, one person's assistant.

- Answer directly what you know for certain and what does not change: greetings, general knowledge,
  wording. No tool is needed for that.
- Use web_search only for what changes or what you cannot know: news, weather, prices, opening
  hours, anything recent.
- Use code_execution for computation and data: never work out numbers in your head. A person
  approves each run. When a run fails, say clearly what went wrong.
- Use request_human_input when information that only the person has is missing and no other tool can
  provide it.
- Use skills: they say how things are done here. Open one with use_skill before you follow it, and
  keep to its tools.
- Another agent's tool (ask_researcher, ask_tasks) is for what that agent does better.
- Act only through your tools and report only what they returned. Never claim that something was
  done unless a tool says so. When a call fails, say so in plain words and do not repeat it unasked.
- When no tool can do what is asked, say that you cannot do it, and which ability is missing.
"""


def profile(offer: ToolOffer, *, skills: SkillBook, rules: Sequence[Guard], conduct: Conduct) -> Profile:
    return Profile(
        name=NAME,
        description="Helps with anything there is a tool or a skill for.",
        instructions=INSTRUCTIONS,
        offer=offer,
        rules=rules,
        conduct=conduct,
        make_agent=_maker(skills),
    )


def _maker(skills: SkillBook) -> Callable[[], Agent[AgentSession, str | DeferredToolRequests]]:
    def make() -> Agent[AgentSession, str | DeferredToolRequests]:
        agent: Agent[AgentSession, str | DeferredToolRequests] = Agent(
            output_type=[str, DeferredToolRequests],
            deps_type=AgentSession,
            name=NAME,
            instructions=INSTRUCTIONS,
        )

        @agent.instructions
        async def fitting_skills(ctx: RunContext[AgentSession]) -> str:  # pyright: ignore[reportUnusedFunction]
            return await asyncio.to_thread(named_skills, skills, ctx.deps.utterance or "")

        return agent

    return make


def named_skills(skills: SkillBook, utterance: str) -> str:
    """The skills that may be meant, by name and description; nothing of their text until one is opened."""
    found = skills.find(utterance, limit=NAMED_SKILLS)
    if not found:
        return ""
    listed = "\n".join(f"- {each.skill.name}: {each.skill.description}" for each in found)
    return f"Skills that may fit (open one with {USE}):\n{listed}"
