"""Gap detection: over any MCP session, and over a platform's own tools."""

from collections.abc import Callable
from functools import cache
from typing import Any

from steward.bootstrap.platform import Platform
from steward.contract.ports import CapabilityExtractor, TextReader
from steward.contract.tool import ToolSpec
from steward.models.embedding import MiniLMEmbedder
from steward.orchestrator.orchestrator import Orchestrator
from steward.orchestrator.registry import RegisteredTool
from steward.selection.gaps import GapFinder, ToolSession

ASKS_AN_AGENT = "ask_"  # tools that hand a request on say nothing about what can be done with it


@cache
def _embedder() -> TextReader:
    return MiniLMEmbedder()


class ToolGapDetector(GapFinder):
    """As RES names it: a session is all that it needs, and the embedder that comes along reads the words."""

    def __init__(
        self,
        mcp_session: ToolSession,
        *,
        extractor: CapabilityExtractor | None = None,
    ) -> None:
        super().__init__(mcp_session, reader=_embedder(), extractor=extractor)


class RegistryAsSession:
    """The tools behind the door in the form of an MCP session."""

    def __init__(self, orchestrator: Orchestrator, includes: Callable[[RegisteredTool], bool]) -> None:
        self._orchestrator = orchestrator
        self._includes = includes

    async def list_tools(self, *, params: Any = None) -> list[ToolSpec]:  # noqa: ARG002 - one page
        return [
            tool.spec
            for tool in self._orchestrator.registry
            if tool.available and not tool.spec.name.startswith(ASKS_AN_AGENT) and self._includes(tool)
        ]

    def absences(self) -> list[str]:
        return self._orchestrator.lifecycle.absences()


def gap_detector(
    platform: Platform,
    *,
    includes: Callable[[RegisteredTool], bool] = lambda _: True,
    extractor: CapabilityExtractor | None = None,
    writes: bool = False,
) -> GapFinder:
    """A detector for what an agent is offered. `extractor` and `writes` come with a language model."""
    return GapFinder(
        RegistryAsSession(platform.orchestrator, includes),
        extractor=extractor,
        reader=platform.library.embedder,
        judge=platform.search.judge,
        ranker=platform.ranker,
        writes=writes,
    )
