"""Steward's own servers behind the door: time, the web and files, reached in memory like any other."""

from steward.contract.agent import Agent
from steward.contract.tool import Effect, RiskLevel
from steward.knowledge.ports import FileReaders
from steward.orchestrator.orchestrator import Orchestrator
from steward.settings import Settings

TIME, WEB, FILES = "time", "web", "files"
SEARCH_GRACE = 5.0  # seconds beyond WEBSEARCH_TIMEOUT, so that the server's own words on it arrive


def register_own_servers(orchestrator: Orchestrator, settings: Settings, readers: FileReaders) -> None:
    orchestrator.register_agent_factory(TIME, time_agent)
    orchestrator.register_agent_factory(WEB, lambda: web_agent(settings, readers))
    orchestrator.register_agent_factory(FILES, lambda: files_agent(settings))


def time_agent() -> Agent:
    # Here and not above: MCP takes a second to import, which nobody pays who only asks for help.
    from steward.providers.builtin import BuiltinServerAgent, BuiltinTool  # noqa: PLC0415
    from steward.servers import time  # noqa: PLC0415

    tools = {
        "get_current_time": BuiltinTool(
            effect=Effect.READS, examples=("What time is it in Tokyo?", "What day is today?")
        )
    }
    return BuiltinServerAgent(TIME, time.build(), tools, name="Time", category="time")


def web_agent(settings: Settings, readers: FileReaders) -> Agent:
    from steward.providers.builtin import BuiltinServerAgent, BuiltinTool  # noqa: PLC0415
    from steward.servers import pages, web  # noqa: PLC0415

    engine = web.engine_named(settings.websearch_engine, timeout=settings.websearch_timeout)
    tools = {
        "web_search": BuiltinTool(
            effect=Effect.READS,
            aliases=("search_web",),
            examples=(
                "Search the web for MCP servers.",
                "Who won the election?",
                "Will it rain in Oslo tomorrow?",
                "What do flights to Rome cost now?",
                "What is new about the strike?",
            ),
            timeout=settings.websearch_timeout + SEARCH_GRACE,
        ),
        "fetch_page": BuiltinTool(
            effect=Effect.READS,
            risk=RiskLevel.REVERSIBLE,
            examples=("Read https://example.org/article.", "What does this web page say?"),
            timeout=settings.websearch_timeout + SEARCH_GRACE,
        ),
    }
    fetcher = pages.PageFetcher(
        readers=readers, timeout=settings.websearch_timeout, allowed=settings.fetchable_hosts
    )
    server = web.build(engine, fetcher, max_results=settings.websearch_max_results)
    return BuiltinServerAgent(WEB, server, tools, name="Web search", category="web")


def files_agent(settings: Settings) -> Agent:
    from steward.providers.builtin import BuiltinServerAgent, BuiltinTool  # noqa: PLC0415
    from steward.servers import files  # noqa: PLC0415

    def reads(*examples: str) -> BuiltinTool:
        return BuiltinTool(effect=Effect.READS, risk=RiskLevel.REVERSIBLE, examples=examples)

    tools = {
        "read_file": reads("Read notes.md."),
        "list_directory": reads("What is in the reports folder?"),
        "search_files": reads("Find all Markdown files."),
    }
    return BuiltinServerAgent(FILES, files.build(settings.places), tools, name="Files", category="files")
