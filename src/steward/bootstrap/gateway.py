"""The gateway over a platform: which views there are and what stands in them."""

from typing import TYPE_CHECKING

from steward.contract.deciding import Role
from steward.contract.errors import NotFoundError
from steward.storage.long_calls import PostgresLongCalls

if TYPE_CHECKING:
    from steward.bootstrap.platform import Platform
    from steward.servers.gateway.server import Gateway
    from steward.servers.gateway.views import View

TASKS = frozenset({"add_task", "list_tasks", "complete_task", "delete_task", "update_task"})
KNOWLEDGE = frozenset(
    {
        "query_knowledge_base",
        "ingest_documents",
        "augment_knowledge",
        "manage_collections",
        "manage_projects",
    }
)
PARTS: dict[str, frozenset[str]] = {
    "gateway": frozenset(),
    "tasks": TASKS,
    "knowledge": KNOWLEDGE,
    "time": frozenset({"get_current_time"}),
    "web": frozenset({"web_search", "fetch_page"}),
    "files": frozenset({"read_file", "list_directory", "search_files"}),
}
CLIENT_CONFIRMS = frozenset({"delete_task"})  # only where the owner of a pipe says so


def view_named(name: str, *, client_confirms: bool = False, on_its_own: bool = False) -> "View":
    """What a name shows; one that is not a part's is the namespace of a server of mcp.json.

    `on_its_own`: `steward serve tasks` is the task server as contracted, where each call says for whom it
    acts.
    """
    # Here and not above: MCP takes a second to import, which nobody pays who only asks for help.
    from steward.servers.gateway.views import View  # noqa: PLC0415

    if name == "gateway":
        return View(failures_as_errors=KNOWLEDGE, task_envelopes=TASKS)
    tools = PARTS.get(name)
    if tools is None:
        return View(name=f"steward-{name}", namespaces=frozenset({name}))
    return View(
        name=f"steward-{name}",
        tools=tools,
        client_confirms=tools & CLIENT_CONFIRMS if client_confirms else frozenset(),
        failures_as_errors=tools & KNOWLEDGE,
        task_envelopes=tools & TASKS,
        shows_user=on_its_own,
    )


def open_gateway(platform: "Platform", view: "View", *, piped: Role = Role.USE) -> "Gateway":
    """`piped`: the role of a client on a pipe, which brings no key."""
    from steward.servers.gateway.library import ServerLibrary  # noqa: PLC0415 - see above
    from steward.servers.gateway.long_calls import LongCalls  # noqa: PLC0415
    from steward.servers.gateway.server import Gateway  # noqa: PLC0415

    door = platform.orchestrator
    known = any(view.shows(tool.spec) for tool in door.registry)
    if not known and view.namespaces:
        raise NotFoundError(
            f"There is nothing to serve under '{', '.join(view.namespaces)}'.",
            fix=f"Name one of {', '.join(PARTS)} or a server of mcp.json; see 'steward agents list'.",
        )
    library = ServerLibrary(door.registry, namespaces=view.namespaces, tools=view.tools)
    long_calls = LongCalls(PostgresLongCalls(platform.database))
    return Gateway(
        door, ranker=platform.ranker, view=view, library=library, piped=piped, long_calls=long_calls
    )
