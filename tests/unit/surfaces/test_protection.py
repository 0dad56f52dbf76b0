"""What passes before any route, for the kinds of traffic that no route of ours has."""

from typing import Any

import pytest

from steward.surfaces.api.protection import Protection

Message = dict[str, Any]


async def inner(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "inner", "scope": scope["type"]})


async def sent(scope: Message) -> list[Any]:
    """What a client sees of the application behind the protection."""
    messages: list[Any] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        messages.append(message)

    await Protection(inner)(scope, receive, send)
    return messages


def socket(**headers: str) -> Message:
    return {"type": "websocket", "headers": [(k.encode(), v.encode()) for k, v in headers.items()]}


async def test_a_socket_of_our_own_page_is_opened() -> None:
    ours = socket(host="localhost:8700", origin="http://localhost:8700")
    assert await sent(ours) == [{"type": "inner", "scope": "websocket"}]


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "localhost:8700", "origin": "https://evil.example"},
        {"host": "evil.example", "origin": "https://evil.example"},
        {"host": "[bad", "origin": "http://[bad"},
        {},
    ],
)
async def test_a_socket_of_another_page_is_closed_before_it_opens(headers: dict[str, str]) -> None:
    assert await sent(socket(**headers)) == [{"type": "websocket.close", "code": 1008}]


async def test_what_is_no_request_passes_untouched() -> None:
    assert await sent({"type": "lifespan"}) == [{"type": "inner", "scope": "lifespan"}]
