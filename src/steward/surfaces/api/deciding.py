"""With what right a request decides, for the receipt: the key's name and role, the program, and the way.

All of it is found out here. A request cannot say how it came in: our own page proves itself with a secret of
this process, and the command line with the token of its home.
"""

import hmac

from fastapi import Request

from steward.contract.deciding import Decider, Way, client_name
from steward.surfaces.api.identity import Identity
from steward.surfaces.wire import PAGE_PROOF


def decider(request: Request, identity: Identity, *, way: Way) -> Decider:
    """`way` is the route's own, for whoever is neither the page nor the command line."""
    surface = _surface(request, identity)
    claimed = surface.value if surface is not None else request.headers.get("user-agent")
    return Decider(
        caller=identity.caller,
        role=identity.role,
        user=identity.user,
        way=surface or way,
        client=client_name(claimed),
    )


def _surface(request: Request, identity: Identity) -> Way | None:
    if _same(request.headers.get(PAGE_PROOF), request.app.state.page_proof):
        return Way.PAGE
    return Way.CLI if identity.owner else None


def _same(given: str | None, known: str | None) -> bool:
    return given is not None and known is not None and hmac.compare_digest(given.encode(), known.encode())
