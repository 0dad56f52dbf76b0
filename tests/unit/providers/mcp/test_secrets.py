import pytest

from steward.contract.errors import ConfigError
from steward.providers.mcp.secrets import MappingSource, Secrets

KEYRING = {("github", "token"): "from the keyring"}


@pytest.fixture
def secrets() -> Secrets:
    source = MappingSource({"TOKEN": "t0k3n", "EMPTY": "", "PORT": 5})
    return Secrets(source, keyring=lambda service, name: KEYRING.get((service, name)))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("plain", "plain"),
        ("Bearer ${TOKEN}", "Bearer t0k3n"),
        ("${env:TOKEN}-${PORT}", "t0k3n-5"),
        ("${EMPTY}", ""),
        ("${MISSING:-a default}", "a default"),
        ("${TOKEN:-a default}", "t0k3n"),
        ("${keyring:github/token}!", "from the keyring!"),
        ("$TOKEN ${} {TOKEN}", "$TOKEN ${} {TOKEN}"),
    ],
)
async def test_references_are_replaced(secrets: Secrets, written: str, meant: str) -> None:
    assert await secrets.expand(written, where="env.X") == meant
    assert await secrets.expand_all({"X": written}, where="env") == {"X": meant}


@pytest.mark.parametrize("written", ["${MISSING}", "${keyring:github/nothing}", "${keyring:nameless}"])
async def test_a_reference_to_nothing_is_explained(secrets: Secrets, written: str) -> None:
    with pytest.raises(ConfigError) as error:
        await secrets.expand_all({"X": written}, where="server 's': env")
    assert "server 's': env.X" in error.value.message
    assert error.value.fix
    assert "t0k3n" not in error.value.explain()
