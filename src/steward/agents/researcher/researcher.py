"""The researcher: a Pydantic AI agent that finds things out, with sources, and says what it cannot do.

Owns its words, its memory tools and what it does around a run: it starts only with servers to work with, asks
first whether the request can be done at all, and keeps what it found. How research goes is research/'s, how
a turn goes the chat's. Model-agnostic: whichever model the settings name, the planner included.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests, RunContext

from steward.agents.assistant.builtin_reader import HOUSE
from steward.agents.guards.gap_check import FindGap, HonestBeforehand
from steward.agents.profile import Draft, Guard, Profile, TurnView
from steward.agents.researcher.account import sources, statements, support
from steward.agents.researcher.addresses import with_known_addresses
from steward.agents.researcher.evidence import STORE, WEB, from_records
from steward.agents.researcher.research_session import ResearchMemory, ResearchSession
from steward.agents.researcher.response import AgentResponse
from steward.agents.turn.results import failure
from steward.agents.turn.toolset import ToolOffer
from steward.contract.agent import LifecycleState
from steward.contract.errors import AgentError, ErrorCode, StewardError
from steward.conversations.model import AnswerStatus, Progress
from steward.orchestrator.orchestrator import Orchestrator

NAME = "researcher"
SERVERS = ("web", "files", "time")
TOOLS = frozenset(
    {
        "web_search",
        "fetch_page",
        "query_knowledge_base",
        "get_current_time",
        "read_file",
        "list_directory",
        "search_files",
    }
)
OWN_TOOLS = frozenset({"search_memory", "store_memory"})
SYSTEM_PROMPT = """You are Steward's researcher.

Capabilities:
- web search: web_search finds pages, fetch_page reads one;
- filesystem read: read_file, list_directory and search_files, below the allowed folders, never
  writing;
- time context: get_current_time, for any time zone;
- memory: search_memory finds what was learned before, store_memory keeps what was found;
- the knowledge base of documents on this machine: query_knowledge_base.

Responsibilities:
- Answer research questions from what the tools return and from nothing else. Verify what you
  believe to know.
- Search memory first, then the knowledge base, then the web. What memory holds and is still fresh
  is the answer; say when it was stored. Otherwise read pages, not only snippets, and prefer sources
  that are independent of each other.
- Split a question with several parts, search for the parts at the same time, and merge what you
  found.
- Cite: put [1], [2] after what a source says, and list the sources with title, address and date at
  the end. Never name an address that no tool returned.
- Keep new findings with store_memory: a short statement of what was found, with its topic in the
  metadata.
- Detect tool gaps: when no tool can do what is asked, say which ability is missing. Never invent
  data, and never claim that something was done which no tool did.
- Respect risk: a call that needs the person's approval waits for it; do not look for a way around
  it.
- When a tool fails, say so and go on with the others; do not repeat it unasked.
"""

Researcher = Agent[ResearchMemory, AgentResponse | DeferredToolRequests]


def initialize_researcher() -> Researcher:
    """The agent with its two memory tools; which model answers is said at each run."""
    researcher_agent: Researcher = Agent(
        output_type=[AgentResponse, DeferredToolRequests],
        deps_type=ResearchMemory,
        name=NAME,
        instructions=SYSTEM_PROMPT,
        retries=2,
    )

    @researcher_agent.tool(metadata={"read_only": True})
    async def search_memory(ctx: RunContext[ResearchMemory], query: str) -> list[dict[str, Any]]:
        """Find what was learned before, by meaning: past research, facts, decisions.

        Args:
            query: What to look for.
        """
        try:
            return await ctx.deps.semantic_search(query, top_k=5)
        except StewardError as error:  # the model reads it; nothing a tool does ends a run
            return [failure(error.code, error.explain(), retryable=error.retryable)]

    @researcher_agent.tool(metadata={"read_only": False, "reader": HOUSE})
    async def store_memory(
        ctx: RunContext[ResearchMemory], content: str, metadata: dict[str, Any] | None = None
    ) -> str:
        """Keep what was found, to be found again; returns the document's id.

        Args:
            content: What was found, as statements.
            metadata: At least its topic.
        """
        try:
            return await ctx.deps.store_document(content, metadata or {})
        except StewardError as error:
            return f"Nothing was stored: {error.explain()}"

    return researcher_agent


async def setup_mcp_tools(door: Orchestrator, servers: Sequence[str] = SERVERS) -> tuple[str, ...]:
    """The servers that research works with, started where they are not; refuses to go on without any.

    A server that does not connect leaves the others at work. Where none does, the error names each cause.
    """
    problems: dict[str, str] = {}
    for name in servers:
        try:
            await door.lifecycle.start(name)
        except StewardError as error:
            problems[name] = error.message
    for status in door.lifecycle.statuses():
        if status.id in servers and status.state is not LifecycleState.RUNNING:
            problems.setdefault(status.id, status.problem or f"it is {status.state.value}")
    if len(problems) == len(servers):
        causes = "; ".join(f"{name}: {problem}" for name, problem in problems.items())
        raise AgentError(
            f"The researcher cannot start: none of its servers can be reached ({causes}).",
            code=ErrorCode.AGENT_INIT_FAILED,
            fix="See 'steward agents list' and 'steward doctor'.",
        )
    return tuple(name for name in servers if name not in problems)


@dataclass(frozen=True, slots=True)
class ResearchConduct:
    """Implements `Conduct`: servers and gaps before the run, keeping what was found after it."""

    door: Orchestrator
    gaps: HonestBeforehand

    async def before(self, turn: TurnView) -> Draft | None:
        await setup_mcp_tools(self.door)
        return await self.gaps.before(turn)

    async def after(self, turn: TurnView, draft: Draft) -> Draft:
        """A finding of the web is kept, also where the model forgot to."""
        heard = from_records(turn.ledger.calls)
        found = [each for each in sources(support(turn.text, draft.text, heard)) if each.kind == WEB]
        if draft.status is not AnswerStatus.DONE or not found:
            return draft
        await turn.tell(Progress(f"{len(found)} source{'s' * (len(found) > 1)}"))
        if not any(each.role == STORE for each in heard):
            session = ResearchSession.of(turn.session, self.door)
            try:
                said = with_known_addresses(statements(draft.text), turn.text, turn.ledger.everything)
                await session.store_document(said, {})
            except StewardError as error:  # the answer stands; the record says what became of keeping it
                await turn.tell(Progress(f"could not be kept: {error.message}"))
        return draft


def profile(offer: ToolOffer, *, door: Orchestrator, rules: Sequence[Guard], find_gap: FindGap) -> Profile:
    """`offer` says how tools are judged; which ones there are is the researcher's."""
    return Profile(
        name=NAME,
        description="Finds things out: memory first, then your documents, then the web, with sources.",
        instructions=SYSTEM_PROMPT,
        offer=offer,
        rules=rules,
        conduct=ResearchConduct(door, HonestBeforehand(find_gap)),
        make_agent=initialize_researcher,
        equip=lambda session: ResearchSession.of(session, door),
    )


def is_offered(name: str) -> bool:
    """The orchestrator's tools that the researcher gets beside its own two; other searches included."""
    return name in TOOLS or name.rpartition("__")[2] in ("web_search", "search_web", "search")
