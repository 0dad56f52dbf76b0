"""Who is asking, and what they may do.

Owns the roles and the rule for callers without a key: on this machine, while no key was ever made, the
caller is the person who sits at it. Keys themselves are kept by storage.
"""

import hmac
import ipaddress
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Any

from fastapi import Depends, Request

from steward.contract.call import Caller, CallerKind
from steward.contract.errors import ErrorCode, ForbiddenError
from steward.surfaces.api.state import platform_of

LOCAL_USER = "local"


class Role(IntEnum):
    """Each role may do what those before it may."""

    READ = 1
    USE = 2
    APPROVE = 3
    ADMIN = 4


@dataclass(frozen=True, slots=True)
class Identity:
    name: str
    role: Role
    user: str = LOCAL_USER

    @property
    def caller(self) -> Caller:
        return Caller(CallerKind.PERSON, self.name)


def bearer(request: Request) -> str | None:
    key = request.headers.get("x-api-key")
    if key:
        return key
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


async def identify(request: Request) -> Identity:
    token = bearer(request)
    settings = platform_of(request).settings
    if token is not None:
        if hmac.compare_digest(token.encode(), request.app.state.local_token.encode()):
            return Identity(LOCAL_USER, Role.ADMIN)
        configured = settings.api_key
        if configured and hmac.compare_digest(token.encode(), configured.get_secret_value().encode()):
            return Identity("api-key", Role.ADMIN)
        raise ForbiddenError(
            "This key is not known.", code=ErrorCode.UNAUTHENTICATED, fix="See 'steward keys list'."
        )
    if settings.api_key is None and _loopback(request):
        return Identity(LOCAL_USER, Role.ADMIN)
    raise ForbiddenError(
        "A key is needed.",
        code=ErrorCode.UNAUTHENTICATED,
        fix="Send it as X-API-Key or Authorization: Bearer.",
    )


def _loopback(request: Request) -> bool:
    if request.client is None:
        return False
    try:
        return ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False


def needs(role: Role) -> Callable[..., Any]:
    async def check(identity: Annotated[Identity, Depends(identify)]) -> Identity:
        if identity.role < role:
            raise ForbiddenError(
                f"The role '{identity.role.name.lower()}' may not do this.",
                fix=f"Use a key with the role '{role.name.lower()}'.",
            )
        return identity

    return check


Reader = Annotated[Identity, Depends(needs(Role.READ))]
Worker = Annotated[Identity, Depends(needs(Role.USE))]
Approver = Annotated[Identity, Depends(needs(Role.APPROVE))]
Admin = Annotated[Identity, Depends(needs(Role.ADMIN))]
