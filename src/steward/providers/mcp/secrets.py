"""`${NAME}`, `${NAME:-default}` and `${keyring:service/name}` in mcp.json, looked up on connecting.

Owns the syntax and the system keyring. The environment itself comes in through a `SecretSource`.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from steward.contract import linear_re as re
from steward.contract.errors import ConfigError
from steward.contract.ports import SecretSource

_REFERENCE = re.compile(r"\$\{([^{}]+)\}")
KEYRING = "keyring:"

KeyringLookup = Callable[[str, str], str | None]


def system_keyring(service: str, name: str) -> str | None:
    import keyring  # noqa: PLC0415 - its backends take long to import and most configurations need none
    import keyring.errors  # noqa: PLC0415

    try:
        return keyring.get_password(service, name)
    except keyring.errors.KeyringError as error:
        raise ConfigError(
            f"The system keyring cannot be read: {error}",
            fix="Unlock it, or put the value into an environment variable and write ${NAME}.",
        ) from error


class Secrets:
    def __init__(
        self,
        source: SecretSource,
        keyring: KeyringLookup = system_keyring,
        *,
        on_value: Callable[[str], object] = lambda _: None,
    ) -> None:
        """`on_value` is told each value that was looked up, so that it can be kept out of logs."""
        self._source = source
        self._keyring = keyring
        self._on_value = on_value

    async def expand(self, text: str, *, where: str) -> str:
        """`text` with every reference replaced. `where` names the place for the error."""
        found: dict[str, str] = {}
        for reference in _REFERENCE.findall(text):
            found[reference] = await self._lookup(reference, where)
            self._on_value(found[reference])
        return _REFERENCE.sub(lambda match: found[match[1]], text)

    async def expand_all(self, values: Mapping[str, str], *, where: str) -> dict[str, str]:
        return {key: await self.expand(value, where=f"{where}.{key}") for key, value in values.items()}

    async def _lookup(self, reference: str, where: str) -> str:
        value: str | None
        if reference.startswith(KEYRING):
            service, _, name = reference.removeprefix(KEYRING).partition("/")
            if not service or not name:
                raise ConfigError(
                    f"{where}: '${{{reference}}}' does not name a keyring entry.",
                    fix="Write ${keyring:service/name}.",
                )
            value = await asyncio.to_thread(self._keyring, service, name)
            if value is None:
                raise ConfigError(
                    f"{where}: the keyring has no '{name}' for '{service}'.",
                    fix=f"Store it with `keyring set {service} {name}`.",
                )
            return value
        name, has_default, default = reference.removeprefix("env:").partition(":-")
        value = self._source.lookup(name)
        if value is None and has_default:
            return default
        if value is None:
            raise ConfigError(
                f"{where}: the environment variable {name} is not set.",
                fix=f"Set {name}, or write ${{{name}:-default}}.",
            )
        return value


class MappingSource:
    """Names looked up in a mapping, such as the environment that the settings read."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def lookup(self, name: str) -> str | None:
        value = self._values.get(name)
        return None if value is None else str(value)
