"""How a command reaches Steward: through the HTTP API, always.

A running `steward up` of the same home is used when there is one; otherwise one is started in the background
(`surfaces/background.py`). Where there is to be none the API is opened inside this process, without a socket.
One path means that a command, a page and a client see the same answers.
"""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from steward.contract.errors import ErrorCode, InputError, StewardError, UnavailableError
from steward.surfaces.cli.files import write_private
from steward.surfaces.collector import loading
from steward.surfaces.wire import Body, Incoming, LostError, SocketWire, Wire, target

if TYPE_CHECKING:  # pydantic takes two tenths of a second to import, too long for --help
    from steward.settings import Settings
    from steward.surfaces.instance import Instance

Reach = Callable[["Instance"], Wire]
FILE_READERS = frozenset({"knowledge"})  # agents whose commands name files of the current folder
FAILED = 400
JSON = {"Content-Type": "application/json"}
CALLERS_MISTAKES = (400, 404, 405, 413, 415, 422)


def route(*parts: str) -> str:
    """A route from its parts; a name may hold what an address may not."""
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)


class Api:
    """The API as commands use it: JSON in, JSON out, problems as `StewardError`."""

    def __init__(self, wire: Wire, *, running: str | None = None, background: bool = False) -> None:
        self._wire = wire
        self.running = running  # the address of a Steward that answers; None: this process does
        self.background = background  # it serves commands alone: no page, no gateway, no keys

    async def get(self, path: str, **query: Any) -> dict[str, Any]:
        return await self._send("GET", path, query=query)

    async def post(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return await self._send("POST", path, body=body or {})

    async def stream(self, path: str, body: Mapping[str, Any]) -> AsyncGenerator[tuple[str, dict[str, Any]]]:
        """The answer as it comes: each event's name and data."""
        headers = {"Accept": "text/event-stream", **JSON}
        async with (
            self._open("POST", path, body=json.dumps(body).encode(), headers=headers) as answer,
            aclosing(_events(answer.lines())) as events,
        ):
            async for event in events:
                yield event

    async def follow(self, path: str) -> AsyncGenerator[tuple[str, dict[str, Any]]]:
        """Events that come of their own accord, until the other side ends."""
        headers = {"Accept": "text/event-stream"}
        async with (
            self._open("GET", path, headers=headers) as answer,
            aclosing(_events(answer.lines())) as events,
        ):
            async for event in events:
                yield event

    async def put(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return await self._send("PUT", path, body=body)

    async def patch(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return await self._send("PATCH", path, body=body)

    async def delete(self, path: str, **query: Any) -> dict[str, Any]:
        return await self._send("DELETE", path, query=query)

    async def download(self, path: str, file: Path, **query: Any) -> int:
        """An answer that is a file, written whole or not at all, for its owner only. Gives its size."""
        async with self._open("GET", target(path, _given(query))) as answer:
            return write_private(file, await answer.read())

    async def upload(self, path: str, file: Path, **query: Any) -> dict[str, Any]:
        async def blocks() -> AsyncGenerator[bytes]:
            with file.open("rb") as source:
                while block := source.read(1 << 20):
                    yield block

        headers = {"Content-Type": "application/octet-stream"}
        where = target(path, _given(query))
        async with self._open("POST", where, body=blocks(), headers=headers) as answer:
            return json.loads(await answer.read())

    async def _send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        where = target(path, _given(query or {}))
        content = None if body is None else json.dumps(body).encode()
        async with self._open(method, where, body=content, headers=JSON if content else None) as answer:
            said = await answer.read()
        return json.loads(said) if said else {}

    @asynccontextmanager
    async def _open(
        self, method: str, path: str, *, body: Body = None, headers: Mapping[str, str] | None = None
    ) -> AsyncGenerator[Incoming]:
        try:
            async with self._wire.open(method, path, body=body, headers=headers) as answer:
                if answer.status >= FAILED:
                    raise problem(answer.status, await answer.read())
                yield answer
        except LostError as error:
            raise _unanswered(error, harmless=method == "GET" or not error.heard) from error


def _given(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """What was asked for, as an address says it."""
    words = {True: "true", False: "false"}
    return {
        name: words[value] if isinstance(value, bool) else value
        for name, value in query.items()
        if value is not None
    }


async def _events(lines: AsyncGenerator[str]) -> AsyncGenerator[tuple[str, dict[str, Any]]]:
    name, data = "message", ""
    async with aclosing(lines):
        async for line in lines:
            if line.startswith("event:"):
                name = line[6:].strip()
            elif line.startswith("data:"):
                data += line[5:].strip()
            elif not line and data:
                yield name, json.loads(data)
                name, data = "message", ""


def _unanswered(error: LostError, *, harmless: bool) -> UnavailableError:
    """What was sent and never answered may have run: nobody is invited to send it again unseen."""
    fix = "Is 'steward up' still running?"
    if not harmless:
        fix = "It may have taken effect and was not repeated; 'steward log' and 'steward proposals' show it."
    return UnavailableError(
        f"Steward did not answer ({error}).", fix=fix, retryable=harmless, in_doubt=not harmless
    )


def problem(status: int, content: bytes) -> StewardError:
    """The error that a problem+json answer describes."""
    try:
        said = json.loads(content)
    except ValueError:
        said = {}
    if not isinstance(said, dict):
        said = {}
    told: dict[str, Any] = said  # pyright: ignore[reportUnknownVariableType]
    kind = InputError if status in CALLERS_MISTAKES else StewardError
    return kind(
        str(told.get("detail") or told.get("title") or f"Steward answered {status}."),
        code=str(told.get("code") or ErrorCode.INTERNAL),
        fix=told.get("fix"),
        retryable=bool(told.get("retryable", False)),
        details={name: told[name] for name in ("call_id", "correlation_id") if name in told},
        in_doubt=told.get("outcome_unknown") is True,
    )


class LastingWire:
    """To whichever Steward serves this home now.

    One in the background ends when nobody needs it: a long command finds, or starts, the next. Only what was
    never heard is said again.
    """

    def __init__(
        self, found: "Instance", find: Callable[[], Awaitable["Instance | None"]], reach: Reach
    ) -> None:
        self._wire = reach(found)
        self._find = find
        self._reach = reach

    @asynccontextmanager
    async def open(
        self, method: str, path: str, *, body: Body = None, headers: Mapping[str, str] | None = None
    ) -> AsyncGenerator[Incoming]:
        async with AsyncExitStack() as stack:
            try:
                answer = await stack.enter_async_context(
                    self._wire.open(method, path, body=body, headers=headers)
                )
            except LostError as error:
                found = None if error.heard else await self._find()
                if found is None:
                    raise
                self._wire = self._reach(found)
                answer = await stack.enter_async_context(
                    self._wire.open(method, path, body=body, headers=headers)
                )
            yield answer


@asynccontextmanager
async def connect(
    settings: "Settings | None" = None, *, agents: Collection[str] | None = None, works: bool = False
) -> AsyncGenerator[Api]:
    """The API of the Steward that serves this home, started in the background where none does.

    Where there is to be none it is opened here, with all agents or only those a command names. `works`: jobs
    are taken out meanwhile, as a running one does.
    """
    # Imported here because each of these costs start-up time that --help must not pay.
    from steward.settings import load_settings  # noqa: PLC0415
    from steward.surfaces import background  # noqa: PLC0415
    from steward.surfaces.instance import command_headers, signed  # noqa: PLC0415

    given = settings or load_settings()
    needs = {} if agents is None else {background.AGENTS: ",".join(agents)}

    def reach(found: "Instance") -> SocketWire:
        return SocketWire(found.url, {**signed(given), **needs})

    async def find() -> "Instance | None":
        return await background.serving(given, reads_files=agents is None or bool(FILE_READERS & {*agents}))

    running = await find()
    if running is not None:
        wire = LastingWire(running, find, reach) if running.background else reach(running)
        yield Api(wire, running=running.url, background=running.background)
        return

    async with AsyncExitStack() as stack:
        with loading():
            # What the API itself needs takes most of a second to load: only where nobody else has it.
            from steward.bootstrap import open_platform  # noqa: PLC0415
            from steward.surfaces.api.app import create_app  # noqa: PLC0415
            from steward.surfaces.cli.inprocess import InProcess  # noqa: PLC0415

            platform = await stack.enter_async_context(open_platform(given, agents=agents))
        if works:
            await stack.enter_async_context(platform.work.worker())
        yield Api(InProcess(create_app(platform, whole=False), command_headers(platform.owner_token)))
