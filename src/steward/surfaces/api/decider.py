"""With what right a request decides, for the receipt: the key's name and role, the program, and the way.

All of it is found out here. A request cannot say how it came in: the page is known by its visit
(web/gate.py), and the command line by the token of its home with a word of its own (identity.py). Another
program with that token came in by the route that it used.
"""

from fastapi import Request

from steward.contract.deciding import Decider, Way, client_name
from steward.surfaces.api.identity import Identity


def decider(request: Request, identity: Identity, *, way: Way) -> Decider:
    """`way` is the route's own, for whoever is neither the page nor the command line."""
    surface = identity.surface
    claimed = surface.value if surface is not None else request.headers.get("user-agent")
    return Decider(
        caller=identity.caller,
        role=identity.role,
        user=identity.user,
        way=surface or way,
        client=client_name(claimed),
    )
