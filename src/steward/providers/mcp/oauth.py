"""Signing in to remote servers with the SDK's OAuth client; tokens in files that only the user can read.

Owns where tokens live and how a person is asked. The protocol itself (discovery, registration, PKCE,
refresh, step-up) is the SDK's.
"""

import asyncio
import hashlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast
from urllib.parse import parse_qs, urlsplit

from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, OAuthFlowError
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from mcp.shared.exceptions import MCPDeprecationWarning
from pydantic import AnyUrl, ValidationError

from steward.contract.errors import AgentError, ErrorCode
from steward.providers.jsonfile import locked, replace_file
from steward.providers.mcp.mcp_config import OAuthConfig

DEFAULT_REDIRECT_PORT = 33419
PERSON_SECONDS = 300.0  # how long a person may take in the browser
_Model = TypeVar("_Model", OAuthToken, OAuthClientInformationFull)
_PAGE = b"<!doctype html><title>Steward</title><p>Signed in. You can close this window."


class SignIn(Protocol):
    """Takes a person through a sign-in page and brings back what it answered."""

    async def __call__(self, url: str, redirect_uri: str) -> AuthorizationCodeResult: ...


class TokenFile:
    """Tokens and registration of one server, in a file of mode 0600, bound to the server's address."""

    def __init__(
        self, folder: Path, server: str, url: str, client: OAuthClientInformationFull | None
    ) -> None:
        name = hashlib.sha256(f"{server}\n{url}".encode()).hexdigest()[:24]
        self._path = folder / f"{name}.json"
        self._url = url
        self._fixed_client = client

    async def get_tokens(self) -> OAuthToken | None:
        return _parsed(OAuthToken, self._read().get("tokens"))

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._write(tokens=tokens.model_dump(mode="json", exclude_none=True))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._fixed_client or _parsed(OAuthClientInformationFull, self._read().get("client"))

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._write(client=client_info.model_dump(mode="json", exclude_none=True))

    def _read(self) -> dict[str, Any]:
        try:
            content: Any = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}  # no token, or one that cannot be used: sign in again
        match content:
            case {"url": self._url}:
                return cast("dict[str, Any]", content)
            case _:
                return {}

    def _write(self, **part: Any) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked(self._path):
            content = {"url": self._url, **self._read(), **part}
            replace_file(self._path, json.dumps(content).encode())  # a new file is the user's alone


def _parsed(model: type[_Model], value: Any) -> _Model | None:
    try:
        return None if value is None else model.model_validate(value)
    except ValidationError:
        return None


async def nobody_to_ask(url: str, redirect_uri: str) -> AuthorizationCodeResult:
    del url, redirect_uri
    raise SignInRequiredError


class SignInRequiredError(AgentError):
    """The server wants a person to sign in and none is there."""

    def __init__(self) -> None:
        super().__init__(
            "it wants you to sign in",
            code=ErrorCode.UNAUTHENTICATED,
            fix="Start Steward with `steward up`; `steward agents health NAME` then shows the page.",
        )


class BrowserSignIn:
    """Waits on a loopback address for a person's browser to bring the answer of the sign-in page."""

    def __init__(
        self, open_page: Callable[[str], object] | None = None, *, patience: float = PERSON_SECONDS
    ) -> None:
        self._open_page = open_page
        self._patience = patience

    async def __call__(self, url: str, redirect_uri: str) -> AuthorizationCodeResult:
        answered: asyncio.Future[dict[str, list[str]]] = asyncio.get_running_loop().create_future()

        async def receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                request = (await reader.readline()).decode("latin-1").split(" ")
                target = urlsplit(request[1] if len(request) > 1 else "")
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n" + _PAGE
                )
                await writer.drain()
                if target.path == urlsplit(redirect_uri).path and not answered.done():
                    answered.set_result(parse_qs(target.query))
            finally:
                writer.close()

        server = await asyncio.start_server(receive, "127.0.0.1", urlsplit(redirect_uri).port)
        async with server:
            if self._open_page is not None:
                self._open_page(url)
            async with asyncio.timeout(self._patience):
                answer = await answered
        if "code" not in answer:
            raise OAuthFlowError(f"the sign-in was refused: {answer.get('error', ['no code came back'])[0]}")
        first = {key: values[0] for key, values in answer.items()}
        return AuthorizationCodeResult(code=first["code"], state=first.get("state"), iss=first.get("iss"))


def oauth_provider(
    config: OAuthConfig,
    *,
    server: str,
    url: str,
    folder: Path,
    sign_in: SignIn,
    wanted: Callable[[str], None],
) -> OAuthClientProvider:
    """The SDK's provider for one server. `wanted` is told the page when a person must sign in."""
    redirect_uri = f"http://127.0.0.1:{config.redirect_port or DEFAULT_REDIRECT_PORT}/callback"
    if config.grant == "client_credentials":
        return _machine_provider(config, url, TokenFile(folder, server, url, None))
    client = None
    if config.client_id is not None:
        client = OAuthClientInformationFull(
            client_id=config.client_id,
            client_secret=config.client_secret,
            redirect_uris=[AnyUrl(redirect_uri)],
            token_endpoint_auth_method="client_secret_basic" if config.client_secret else "none",
            issuer=config.issuer,
        )
    pages: list[str] = []

    async def redirect(page: str) -> None:
        wanted(page)
        pages.append(page)

    async def callback() -> AuthorizationCodeResult:
        return await sign_in(pages.pop(), redirect_uri)

    return OAuthClientProvider(
        server_url=url,
        client_metadata=OAuthClientMetadata(
            client_name="Steward", redirect_uris=[AnyUrl(redirect_uri)], scope=config.scope
        ),
        storage=TokenFile(folder, server, url, client),
        redirect_handler=redirect,
        callback_handler=callback,
        client_metadata_url=config.client_metadata_url,
    )


def _machine_provider(config: OAuthConfig, url: str, storage: TokenFile) -> OAuthClientProvider:
    # Here and not above: signing takes a library that few servers need.
    from mcp.client.auth.extensions.client_credentials import (  # noqa: PLC0415
        ClientCredentialsOAuthProvider,
        PrivateKeyJWTOAuthProvider,
        SignedJWTParameters,
    )

    client_id = config.client_id or ""
    with warnings.catch_warnings():
        # Without an issuer the server names its own; the file's documentation says what that means.
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        if config.private_key is not None:
            signed = SignedJWTParameters(
                issuer=client_id,
                subject=client_id,
                signing_key=config.private_key,
                signing_algorithm=config.signing_algorithm,
            )
            return PrivateKeyJWTOAuthProvider(
                url,
                storage,
                client_id,
                assertion_provider=signed.create_assertion_provider(),
                scope=config.scope,
                issuer=config.issuer,
            )
        return ClientCredentialsOAuthProvider(
            url, storage, client_id, config.client_secret or "", scope=config.scope, issuer=config.issuer
        )
