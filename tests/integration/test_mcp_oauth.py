"""Signing in to a remote server, with a real authorization server on loopback."""

import asyncio
import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from fastmcp import FastMCP
from fastmcp.server.auth.auth import ClientRegistrationOptions
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from mcp.client.auth import AuthorizationCodeResult
from tests.support.channels import execute
from tests.support.mcp_servers import connected, eventually, free_port, remote, serving

from steward.contract.call import Done, Failed
from steward.providers.mcp.connection import State, Timing
from steward.providers.mcp.links import Surroundings
from steward.providers.mcp.mcp_config import HttpTransport, OAuthConfig, ServerConfig
from steward.providers.mcp.oauth import BrowserSignIn, OAuthFlowError

CALM = Timing(backoff=0.01, poll=60)


@pytest.fixture
async def guarded() -> AsyncIterator[str]:
    """The address of a server that wants a sign-in."""
    port = free_port()
    provider = InMemoryOAuthProvider(
        base_url=f"http://127.0.0.1:{port}",
        client_registration_options=ClientRegistrationOptions(enabled=True),
    )
    server: FastMCP = FastMCP("guarded", auth=provider)

    @server.tool
    def secret() -> str:
        """Tell the secret."""
        return "42"

    async with serving(server.http_app(path="/mcp"), port) as url:
        yield f"{url}/mcp"


class Visitor:
    """Somebody whose browser follows the page at once."""

    def __init__(self) -> None:
        self.pages: list[str] = []

    async def __call__(self, url: str, redirect_uri: str) -> AuthorizationCodeResult:
        self.pages.append(url)
        async with httpx2.AsyncClient() as browser:
            answer = await browser.get(url)
        assert answer.headers["location"].startswith(redirect_uri)
        query = parse_qs(urlsplit(answer.headers["location"]).query)
        return AuthorizationCodeResult(code=query["code"][0], state=query["state"][0])


async def test_a_person_signs_in_once_and_the_tokens_are_theirs_alone(guarded: str, tmp_path: Path) -> None:
    visitor = Visitor()
    around = Surroundings(tokens=tmp_path / "oauth", sign_in=visitor)
    config = remote(guarded, name="s", oauth=OAuthConfig())
    for _ in range(2):
        async with connected(config, around=around, timing=CALM) as agent:
            await eventually(lambda: agent.connection.session)
            assert isinstance(await execute(agent, "secret"), Done)
    assert len(visitor.pages) == 1  # the second time the stored token did
    files = [path for path in (tmp_path / "oauth").iterdir() if path.suffix == ".json"]
    assert [stat.S_IMODE(path.stat().st_mode) for path in files] == [0o600]
    assert stat.S_IMODE((tmp_path / "oauth").stat().st_mode) == 0o700


async def test_without_a_person_the_server_stays_away_and_says_why(guarded: str, tmp_path: Path) -> None:
    around = Surroundings(tokens=tmp_path)
    config = remote(guarded, name="s", oauth=OAuthConfig())
    async with connected(config, around=around, timing=CALM) as agent:
        await eventually(lambda: agent.connection.state is State.UNAVAILABLE)
        assert "sign in" in (await agent.health()).detail


async def test_the_page_to_open_is_shown_while_the_browser_is_awaited(guarded: str, tmp_path: Path) -> None:
    port = free_port()
    around = Surroundings(tokens=tmp_path, sign_in=BrowserSignIn())
    config = remote(guarded, name="s", oauth=OAuthConfig(redirect_port=port))
    async with connected(config, around=around, timing=CALM) as agent:
        await eventually(lambda: agent.connection.state is State.SIGN_IN)
        refused = await agent.execute("s__secret", {})
        assert isinstance(refused, Failed)
        told = await agent.health()
        page = str((told.facts or {})["sign_in"])
        assert page not in told.detail  # everybody reads that; who signs in decides for all
        async with httpx2.AsyncClient() as browser:
            answer = await browser.get(page)
            landed = await browser.get(answer.headers["location"])
        assert "Signed in" in landed.text
        await eventually(lambda: agent.connection.session)
        assert isinstance(await execute(agent, "secret"), Done)


async def test_a_refused_sign_in_is_an_error() -> None:
    port = free_port()
    redirect = f"http://127.0.0.1:{port}/callback"
    opened = asyncio.Event()

    async def refuse() -> None:
        await opened.wait()
        async with httpx2.AsyncClient() as browser:
            await browser.get(f"http://127.0.0.1:{port}/favicon.ico")
            await browser.get(f"{redirect}?error=access_denied&state=x")

    refusing = asyncio.create_task(refuse())
    with pytest.raises(OAuthFlowError, match="access_denied"):
        await BrowserSignIn(lambda _: opened.set())("http://page", redirect)
    await refusing
    with pytest.raises(TimeoutError):
        await BrowserSignIn(patience=0.05)("http://page", redirect)


async def test_a_server_with_a_key_in_its_headers_needs_no_sign_in(guarded: str, tmp_path: Path) -> None:
    config = ServerConfig(
        name="s",
        namespace="s",
        transport=HttpTransport(guarded, {"Authorization": "Bearer wrong"}),
        oauth=OAuthConfig(),
    )
    async with connected(config, around=Surroundings(tokens=tmp_path), timing=CALM) as agent:
        await eventually(lambda: agent.connection.state is State.UNAVAILABLE)
    assert os.listdir(tmp_path) == []  # noqa: PTH208
