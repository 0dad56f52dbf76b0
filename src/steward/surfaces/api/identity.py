"""Who is asking, and what they may do.

Owns how a key arrives. Keys, roles and the owner's token are the policy's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.security import APIKeyHeader, HTTPBearer

from steward.contract.call import Caller, CallerKind
from steward.contract.deciding import Way
from steward.contract.errors import ErrorCode, ForbiddenError, UnavailableError
from steward.policy.access import LOCAL_USER, Holder, Role, came_through_a_proxy
from steward.servers.gateway.guard import RateLimit
from steward.surfaces.api.state import platform_of
from steward.surfaces.instance import OF_A_COMMAND

# Only for the documentation and its "Authorize" button; `bearer` reads the headers.
_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="A key made with `steward keys add`.")
_bearer = HTTPBearer(auto_error=False, description="The same key as a bearer token.")


@dataclass(frozen=True, slots=True)
class Identity:
    name: str
    role: Role
    user: str = LOCAL_USER
    surface: Way | None = None  # our own: the page or the command line; None: another program
    owner: bool = False  # came with the token of the home itself

    @property
    def caller(self) -> Caller:
        return Caller(CallerKind.PERSON, self.name)

    @property
    def only(self) -> str | None:
        """Whose waiting calls and questions they see and answer; None for everybody's."""
        return None if self.role >= Role.ADMIN else self.user

    def require_admin(self) -> None:
        """For what depends on more than the route: somebody else's data."""
        Holder(self.name, self.role).require(Role.ADMIN)

    def require_owner(self) -> None:
        """For what runs programs on this machine as its owner, beside all containment."""
        if not self.owner:
            raise ForbiddenError(
                "Only the owner of this home may do this.",
                fix="Sign in with 'steward open' on the machine itself.",
            )


def bearer(request: Request) -> str | None:
    key = request.headers.get("x-api-key")
    if key:
        return key
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


async def identify(
    request: Request, _key: Annotated[Any, Depends(_header)], _token: Annotated[Any, Depends(_bearer)]
) -> Identity:
    holder = await _holder(request)
    require_patience(request, holder)
    name, word = OF_A_COMMAND
    command = holder.owner and request.headers.get(name) == word
    return Identity(holder.name, holder.role, holder.user, Way.CLI if command else None, holder.owner)


async def known(request: Request) -> bool:
    """Whether anybody asks: for routes that also answer to nobody, with less."""
    try:
        await _holder(request)
    except (ForbiddenError, UnavailableError):  # where the keys cannot be looked up either
        return False
    return True


async def _holder(request: Request) -> Holder:
    passed_on = came_through_a_proxy(request.headers.keys())
    return await platform_of(request).keys.admit(bearer(request), passed_on=passed_on)


def require_patience(request: Request, holder: Holder) -> None:
    """The owner's own programs are never kept waiting; everybody else shares the machine."""
    limit: RateLimit | None = request.app.state.limit
    seconds = limit.wait(holder.name) if limit is not None and not holder.owner else 0.0
    if limit is not None and not holder.owner:
        request.scope["steward.standing"] = limit.standing(holder.name)
    if seconds:
        raise UnavailableError(
            f"'{holder.name}' has sent too many requests.",
            code=ErrorCode.RATE_LIMITED,
            fix=f"Wait {max(1, round(seconds))} s, or raise STEWARD_RATE_LIMIT.",
            details={"retry_after": max(1, round(seconds))},
        )


def needs(role: Role) -> Callable[..., Any]:
    async def check(identity: Annotated[Identity, Depends(identify)]) -> Identity:
        Holder(identity.name, identity.role).require(role)
        return identity

    return check


Reader = Annotated[Identity, Depends(needs(Role.READ))]
Worker = Annotated[Identity, Depends(needs(Role.USE))]
Approver = Annotated[Identity, Depends(needs(Role.APPROVE))]
Admin = Annotated[Identity, Depends(needs(Role.ADMIN))]
