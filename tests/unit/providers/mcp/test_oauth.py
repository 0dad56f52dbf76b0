from pathlib import Path

import pytest
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyUrl

from steward.providers.mcp.mcp_config import OAuthConfig
from steward.providers.mcp.oauth import SignInRequiredError, TokenFile, nobody_to_ask, oauth_provider

TOKEN = OAuthToken(access_token="a-token", token_type="Bearer", refresh_token="r", expires_in=60)
CLIENT = OAuthClientInformationFull(client_id="me", redirect_uris=[AnyUrl("http://127.0.0.1:1/callback")])


async def test_tokens_and_registration_are_kept(tmp_path: Path) -> None:
    kept = TokenFile(tmp_path, "s", "https://a/mcp", None)
    assert await kept.get_tokens() is None
    await kept.set_tokens(TOKEN)
    await kept.set_client_info(CLIENT)
    again = TokenFile(tmp_path, "s", "https://a/mcp", None)
    assert await again.get_tokens() == TOKEN
    assert (await again.get_client_info()) == CLIENT


async def test_tokens_of_one_address_are_never_sent_to_another(tmp_path: Path) -> None:
    await TokenFile(tmp_path, "s", "https://a/mcp", None).set_tokens(TOKEN)
    other = TokenFile(tmp_path, "s", "https://b/mcp", None)
    assert await other.get_tokens() is None
    TokenFile(tmp_path, "s", "https://a/mcp", None)._path.rename(other._path)  # not even when it is moved
    assert await other.get_tokens() is None


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"url": "https://a/mcp", "tokens": {"access_token": 5}}']
)
async def test_a_token_file_that_cannot_be_used_means_signing_in_again(tmp_path: Path, content: str) -> None:
    kept = TokenFile(tmp_path, "s", "https://a/mcp", None)
    kept._path.write_text(content)
    assert await kept.get_tokens() is None


async def test_a_client_of_the_configuration_wins(tmp_path: Path) -> None:
    kept = TokenFile(tmp_path, "s", "https://a/mcp", CLIENT)
    assert await kept.get_client_info() == CLIENT


def test_machines_sign_in_with_their_secret_or_key(tmp_path: Path) -> None:
    def provider(config: OAuthConfig) -> object:
        return oauth_provider(
            config,
            server="s",
            url="https://a/mcp",
            folder=tmp_path,
            sign_in=nobody_to_ask,
            wanted=lambda _: None,
        )

    machine = OAuthConfig(grant="client_credentials", client_id="me", client_secret="x")
    assert isinstance(provider(machine), ClientCredentialsOAuthProvider)
    signed = OAuthConfig(grant="client_credentials", client_id="me", private_key="KEY", issuer="https://i")
    assert isinstance(provider(signed), PrivateKeyJWTOAuthProvider)
    known = provider(OAuthConfig(client_id="me", client_secret="x", scope="read"))
    assert not isinstance(known, ClientCredentialsOAuthProvider)


async def test_nobody_to_ask_is_said() -> None:
    with pytest.raises(SignInRequiredError) as error:
        await nobody_to_ask("http://page", "http://back")
    assert error.value.code == "UNAUTHENTICATED"
