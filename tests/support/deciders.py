"""People who decide in tests, as a surface would introduce them."""

from steward.contract.call import Caller, CallerKind
from steward.contract.deciding import Decider, Role, Way


def deciding(
    name: str = "ana",
    *,
    role: Role = Role.ADMIN,
    user: str | None = None,
    way: Way = Way.CLI,
    kind: CallerKind = CallerKind.PERSON,
) -> Decider:
    """An admin unless said otherwise; `user` is whose proposals they may decide, their own by default."""
    return Decider(caller=Caller(kind, name), role=role, user=user or name, way=way, client="test")
