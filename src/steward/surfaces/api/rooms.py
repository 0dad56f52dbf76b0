"""The rooms of the API: which module answers which addresses, loaded all at once or when somebody asks.

A command that answers in this process needs one or two of them, and loading the others took longer than its
answer. The first word of an address (after /v1) tells which: a room's routes begin with its words.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from importlib import import_module
from typing import Any

from fastapi import APIRouter, FastAPI

ROOMS: dict[str, frozenset[str]] = {
    "routes.chat": frozenset({"chat", "conversations"}),
    "openai.models": frozenset({"models"}),
    "openai.completions": frozenset({"chat"}),
    "openai.responses": frozenset({"responses"}),
    "openai.embeddings": frozenset({"embeddings"}),
    "routes.tools": frozenset({"tools"}),
    "routes.gaps": frozenset({"gaps"}),
    "routes.trust": frozenset({"tools"}),
    "routes.registration": frozenset({"tools"}),
    "routes.tasks": frozenset({"tasks"}),
    "routes.undo": frozenset({"undo"}),
    "routes.schedules": frozenset({"schedules"}),
    "routes.notices": frozenset({"notices", "users"}),
    "accounts.users": frozenset({"users"}),
    "routes.agents": frozenset({"agents"}),
    "routes.servers": frozenset({"servers"}),
    "routes.skills": frozenset({"skills"}),
    "routes.proposals": frozenset({"proposals"}),
    "routes.questions": frozenset({"questions"}),
    "routes.executions": frozenset({"executions"}),
    "routes.traces": frozenset({"traces", "metrics"}),
    "routes.jobs": frozenset({"jobs"}),
    "routes.knowledge": frozenset({"knowledge"}),
    "routes.uploads": frozenset({"knowledge"}),
    "routes.memory": frozenset({"memory"}),
    "accounts.keys": frozenset({"keys"}),
    "accounts.ownership": frozenset({"export", "import"}),
    "accounts.me": frozenset({"me"}),
    "routes.policy": frozenset({"policy"}),
    "accounts.visits": frozenset({"visits"}),
    "accounts.sign_in": frozenset({"sign-in-links"}),
    "routes.samples": frozenset({"samples"}),
    "routes.health": frozenset({"healthz", "readyz"}),
    "documentation": frozenset({"docs"}),
}
App = Callable[[Any, Any, Any], Awaitable[None]]


def router_of(room: str) -> APIRouter:
    return import_module(f"steward.surfaces.api.{room}").router


def word_of(path: str) -> str:
    first, _, rest = path.removeprefix("/").partition("/")
    return rest.partition("/")[0] if first == "v1" else first


def add_rooms(app: FastAPI) -> None:
    for room in ROOMS:
        app.include_router(router_of(room))


class RoomsOnDemand:
    """An ASGI application whose rooms are added when an address of theirs is first asked for.

    All rooms of a word come at once and in their order. What no room answers needs all of them: its answer
    may be the list of what there is.
    """

    def __init__(self, app: App, api: FastAPI) -> None:
        self._app = app
        self._api = api
        self._absent = list(ROOMS)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if self._absent and scope["type"] == "http":
            self._add(word_of(scope["path"]))
        await self._app(scope, receive, send)

    def _add(self, word: str) -> None:
        known = any(word in words for words in ROOMS.values())
        wanted = [room for room in self._absent if not known or word in ROOMS[room]]
        for room in wanted:
            self._api.include_router(router_of(room))
        self._absent = [room for room in self._absent if room not in wanted]
