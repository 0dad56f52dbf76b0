"""How a command reaches Steward: through the HTTP API, always.

A running `steward up` of the same home is used when there is one; otherwise the API is opened inside this
process, without a socket. One path means that a command, a page and a client see the same answers.
"""

import json
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from steward.contract.errors import ErrorCode, InputError, StewardError, UnavailableError
from steward.surfaces.cli.files import write_private

if TYPE_CHECKING:  # httpx takes a tenth of a second to import, too long for --help
    import httpx

    from steward.settings import Settings

LOCAL_ADDRESS = "http://localhost"
CALLERS_MISTAKES = (400, 404, 405, 413, 415, 422)


def route(*parts: str) -> str:
    """A route from its parts; a name may hold what an address may not."""
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)


class Api:
    """The API as commands use it: JSON in, JSON out, problems as `StewardError`."""

    def __init__(self, client: "httpx.AsyncClient", *, running: bool) -> None:
        self._client = client
        self.running = running  # whether a `steward up` answers, as opposed to this process

    async def get(self, path: str, **query: Any) -> dict[str, Any]:
        return await self._send("GET", path, query={k: v for k, v in query.items() if v is not None})

    async def post(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return await self._send("POST", path, body=body or {})

    async def stream(self, path: str, body: Mapping[str, Any]) -> AsyncGenerator[tuple[str, dict[str, Any]]]:
        """The answer as it comes: each event's name and data."""
        import httpx  # noqa: PLC0415 - see above

        headers = {"Accept": "text/event-stream"}
        try:
            async with self._client.stream("POST", path, json=body, headers=headers) as response:
                if response.is_error:
                    raise problem(response.status_code, await response.aread())
                async for event in _events(response.aiter_lines()):
                    yield event
        except httpx.HTTPError as error:
            raise _unanswered(error, harmless=isinstance(error, httpx.ConnectError)) from error

    async def put(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return await self._send("PUT", path, body=body)

    async def patch(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return await self._send("PATCH", path, body=body)

    async def delete(self, path: str, **query: Any) -> dict[str, Any]:
        return await self._send("DELETE", path, query=query)

    async def download(self, path: str, file: Path, **query: Any) -> int:
        """An answer that is a file, written whole or not at all, for its owner only. Gives its size."""
        response = await self._request("GET", path, params={k: v for k, v in query.items() if v is not None})
        return write_private(file, response.content)

    async def upload(self, path: str, file: Path, **query: Any) -> dict[str, Any]:
        async def blocks() -> AsyncGenerator[bytes]:
            with file.open("rb") as source:
                while block := source.read(1 << 20):
                    yield block

        given = {k: v for k, v in query.items() if v is not None}
        headers = {"Content-Type": "application/octet-stream"}
        response = await self._request("POST", path, params=given, content=blocks(), headers=headers)
        return response.json()

    async def _send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        response = await self._request(method, path, params=query, json=body)
        return response.json() if response.content else {}

    async def _request(self, method: str, path: str, **more: Any) -> "httpx.Response":
        import httpx  # noqa: PLC0415 - see above

        try:
            response = await self._client.request(method, path, **more)
        except httpx.HTTPError as error:
            raise _unanswered(
                error, harmless=method == "GET" or isinstance(error, httpx.ConnectError)
            ) from error
        if response.is_error:
            raise problem(response.status_code, response.content)
        return response


async def _events(lines: AsyncIterator[str]) -> AsyncGenerator[tuple[str, dict[str, Any]]]:
    name, data = "message", ""
    async for line in lines:
        if line.startswith("event:"):
            name = line[6:].strip()
        elif line.startswith("data:"):
            data += line[5:].strip()
        elif not line and data:
            yield name, json.loads(data)
            name, data = "message", ""


def _unanswered(error: Exception, *, harmless: bool) -> UnavailableError:
    """What was sent and never answered may have run: nobody is invited to send it again unseen."""
    fix = "Is 'steward up' still running?"
    if not harmless:
        fix = "It may have taken effect and was not repeated; 'steward log' and 'steward proposals' show it."
    return UnavailableError(f"Steward did not answer ({type(error).__name__}).", fix=fix, retryable=harmless)


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
    )


@asynccontextmanager
async def connect(settings: "Settings | None" = None) -> AsyncGenerator[Api]:
    # Imported here because each of these costs start-up time that --help must not pay.
    import httpx  # noqa: PLC0415

    from steward.settings import load_settings  # noqa: PLC0415
    from steward.surfaces.instance import find_running  # noqa: PLC0415

    settings = settings or load_settings()
    running = await find_running(settings)
    if running is not None:
        headers = {"Authorization": f"Bearer {running.token}"}
        async with httpx.AsyncClient(base_url=running.url, headers=headers, timeout=None) as client:  # noqa: S113
            yield Api(client, running=True)
        return

    from steward.bootstrap import open_platform  # noqa: PLC0415
    from steward.surfaces.api.app import create_app  # noqa: PLC0415
    from steward.surfaces.cli.inprocess import InProcess  # noqa: PLC0415

    async with open_platform(settings) as platform:
        token = secrets.token_urlsafe(32)
        transport = InProcess(create_app(platform, local_token=token))
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(
            transport=transport,
            base_url=LOCAL_ADDRESS,
            headers=headers,
            timeout=None,  # noqa: S113
        ) as client:
            yield Api(client, running=False)
