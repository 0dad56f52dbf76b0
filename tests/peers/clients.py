"""The clients that Steward is visited by: how each starts, which version is pinned, and what its visit does.

Owns the tables in docs/clients.md: `python -m tests.peers.clients` writes them, and a test compares. A visit
that does not do what stands here fails, so the tables say what was seen.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "clients.md"
BEGIN, END = "<!-- begin: {} -->", "<!-- end: {} -->"

MCP = ("list", "call", "approval", "refusal", "cancel", "resources", "prompts")
OPENAI = ("models", "chat", "stream", "approval", "refusal", "tools", "form", "embeddings", "responses")


@dataclass(frozen=True)
class Client:
    title: str
    script: str  # in fixtures/
    package: str  # whose version is pinned
    environment: str | None = None  # under .peers; None: npm's, or the lock of this clone
    lacks: tuple[str, ...] = ()  # what it cannot do, whoever serves it
    results: bool = True  # it tells a failed result from another one
    connect: str = "openai"  # whose text of `steward connect` it goes by, where it talks
    place: str = "node"  # npm's folder

    @property
    def version(self) -> str:
        if self.script.endswith(".mjs"):
            pinned = json.loads((HERE / self.place / "package.json").read_text(encoding="utf-8"))
            return pinned["dependencies"][self.package]
        lock = HERE / "python" / f"{self.environment}.txt"
        text = (lock if self.environment else HERE.parents[1] / "requirements.lock").read_text(
            encoding="utf-8"
        )
        found = re.search(rf"(?m)^{re.escape(self.package)}==(\S+)", text)
        assert found, f"{self.package} is not pinned"
        return found[1]


NO_LIBRARY = ("resources", "prompts")
CLIENTS = (
    Client("TypeScript SDK 1.x", "typescript_1.mjs", "@modelcontextprotocol/sdk"),
    Client("TypeScript SDK 2.x", "typescript_2.mjs", "@modelcontextprotocol/client"),
    Client("MCP Inspector", "inspector.mjs", "@modelcontextprotocol/inspector", lacks=("cancel",)),
    Client("OpenAI Agents SDK", "openai_agents_visit.py", "openai-agents", "openai-agents"),
    Client(
        "LangChain MCP adapters (LangGraph)", "langchain_client.py", "langchain-mcp-adapters", "langchain",
        results=False,
    ),
    Client("Pydantic AI's toolset", "pydantic_ai_client.py", "pydantic-ai-slim", "pydantic-ai"),
    Client("LiteLLM's MCP bridge", "litellm_client.py", "litellm", "litellm", lacks=NO_LIBRARY),
    Client("AutoGen's workbench", "autogen_client.py", "autogen-ext", "autogen"),
    Client(
        "smolagents", "smolagents_client.py", "smolagents", "smolagents", lacks=NO_LIBRARY,
        results=False,
    ),
    Client(
        "CrewAI's adapter", "crewai_client.py", "crewai-tools", "crewai", lacks=NO_LIBRARY,
        results=False,
    ),
)  # fmt: skip

TALKERS = (
    Client("OpenAI's Python client", "openai_python.py", "openai"),
    Client("OpenAI's TypeScript client", "openai_node.mjs", "openai"),
    Client(
        "LangChain's ChatOpenAI", "langchain_talk.py", "langchain-openai", "langchain", lacks=("models",)
    ),
    Client("LiteLLM", "litellm_talk.py", "litellm", "litellm", lacks=("models",)),
    Client(
        "LlamaIndex's OpenAILike", "llamaindex_talk.py", "llama-index-llms-openai-like", "llamaindex",
        lacks=("models", "responses"),
    ),
    Client(
        "Open WebUI", "open_webui_talk.py", "open-webui", "open-webui", lacks=("embeddings",),
        connect="open-webui",
    ),
    Client(
        "LibreChat's agents", "librechat_talk.mjs", "@librechat/agents",
        lacks=("form", "embeddings", "responses"), connect="librechat", place="librechat",
    ),
)  # fmt: skip


def table(clients: Sequence[Client], columns: Sequence[str]) -> str:
    rows = [("client", "version", *columns), ("---",) * (len(columns) + 2)]
    rows += [
        (each.title, each.version, *("-" if column in each.lacks else "yes" for column in columns))
        for each in clients
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


TABLES = {"mcp": (CLIENTS, MCP), "openai": (TALKERS, OPENAI)}


def page(text: str) -> str:
    """The page with its tables as they are now."""
    for name, (clients, columns) in TABLES.items():
        begin, end = BEGIN.format(name), END.format(name)
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{table(clients, columns)}\n{end}{rest.partition(end)[2]}"
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
