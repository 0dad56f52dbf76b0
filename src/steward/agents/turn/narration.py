"""What a call is for, in a line for whoever waits: "searching the web for …", "reading …"."""

from collections.abc import Mapping
from typing import Any

LONGEST = 100
_SAID = {
    "search_memory": ("looking in memory for", "query"),
    "query_knowledge_base": ("asking the knowledge base for", "query"),
    "web_search": ("searching the web for", "query"),
    "search_web": ("searching the web for", "query"),
    "fetch_page": ("reading", "url"),
    "read_file": ("reading", "path"),
    "store_memory": ("keeping what was found", None),
    "use_skill": ("opening the skill", "name"),
    "code_execution": ("preparing code to run", None),
}


def narrate(tool: str, arguments: Mapping[str, Any]) -> str | None:
    """None for calls whose name says as much."""
    said = _SAID.get(tool.rpartition("__")[2])
    if said is None:
        return None
    words, argument = said
    value = " ".join(str(arguments.get(argument) or "").split()) if argument else ""
    return f"{words} {value[:LONGEST]}".strip() + " …"
