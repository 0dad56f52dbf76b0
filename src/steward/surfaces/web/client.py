"""The HTTP API as the page uses it: JSON in, JSON out, problems as `StewardError`.

The page knows nothing of Steward but this. Synchronous, because a Streamlit script is.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import httpx

from steward.contract.errors import ErrorCode, StewardError, UnavailableError
from steward.surfaces.cli.client import problem
from steward.surfaces.wire import PAGE_PROOF

Event = tuple[str, dict[str, Any]]  # its name and its data


def _ignore(_headers: Mapping[str, str]) -> None:
    return None


class Api:
    def __init__(self, address: str, key: str | None = None, *, proof: str) -> None:
        headers = {PAGE_PROOF: proof} | ({"X-API-Key": key} if key else {})
        # Never through a proxy of the environment: the API is on this machine.
        self._client = httpx.Client(base_url=address, headers=headers, timeout=None, trust_env=False)  # noqa: S113

    def close(self) -> None:
        self._client.close()

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        return self._send("GET", path, params={k: v for k, v in query.items() if v not in (None, "")})

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return self._send("POST", path, json=body or {})

    def patch(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return self._send("PATCH", path, json=body)

    def delete(self, path: str) -> dict[str, Any]:
        return self._send("DELETE", path)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """A tool's result in its envelope; what it answers is for the caller to judge."""
        return self.post(f"/v1/tools/{tool}/call", {"arguments": arguments})

    def approved(self, asked: dict[str, Any]) -> dict[str, Any]:
        """What came of a call to which the person has just said yes; it waits on where they may not."""
        if asked["status"] != "pending_approval":
            return asked
        try:
            return self.post(f"/v1/proposals/{asked['proposal_id']}/approve")
        except StewardError as error:
            if error.code != ErrorCode.FORBIDDEN:
                raise
            return asked | {"error": f"It waits for somebody who may approve it: {error.message}"}

    def events(
        self, path: str, body: Mapping[str, Any], *, opened: Callable[[Mapping[str, str]], None] = _ignore
    ) -> Iterator[Event]:
        """Server-sent events as they come; `opened` hears the answer's headers before the first one."""
        return self._stream("POST", path, opened, json=body)

    def put_file(self, path: str, content: bytes) -> Iterator[Event]:
        """The same for a file: how far reading it is, then the result."""
        return self._stream(
            "PUT", path, _ignore, content=content, headers={"Content-Type": "application/octet-stream"}
        )

    def _stream(
        self, method: str, path: str, opened: Callable[[Mapping[str, str]], None], **more: Any
    ) -> Iterator[Event]:
        more["headers"] = {"Accept": "text/event-stream"} | more.get("headers", {})
        try:
            with self._client.stream(method, path, **more) as response:
                if response.is_error:
                    raise problem(response.status_code, response.read())
                opened(response.headers)
                yield from read_events(response.iter_lines())
        except httpx.HTTPError as error:
            raise _unanswered(error) from error

    def _send(self, method: str, path: str, **more: Any) -> dict[str, Any]:
        try:
            response = self._client.request(method, path, **more)
        except httpx.HTTPError as error:
            raise _unanswered(error) from error
        if response.is_error:
            raise problem(response.status_code, response.content)
        return response.json() if response.content else {}


def read_events(lines: Iterable[str]) -> Iterator[Event]:
    name, data = "message", list[str]()
    for line in lines:
        field, _, value = line.partition(":")
        if field == "event":
            name = value.strip()
        elif field == "data":
            data.append(value.removeprefix(" "))
        elif not line and data:
            yield name, json.loads("\n".join(data))
            name, data = "message", []


def _unanswered(error: Exception) -> UnavailableError:
    return UnavailableError(
        f"Steward did not answer ({type(error).__name__}).",
        fix="Is 'steward up' still running? The Activity page shows what took effect.",
    )
