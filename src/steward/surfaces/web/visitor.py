"""Who visits: the identity behind a request of the page, with the same roles as the API's."""

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import Depends, Request

from steward.contract.deciding import Way
from steward.contract.errors import InputError
from steward.policy.access import Holder, Role
from steward.surfaces.api.identity import Identity, require_patience
from steward.surfaces.web.gate import VISIT, Visit


def visit_of(request: Request) -> Visit:
    return request.scope[VISIT]


def _needs(role: Role) -> Callable[..., Any]:
    async def check(request: Request) -> Identity:
        holder = visit_of(request).holder
        require_patience(request, holder)
        Holder(holder.name, holder.role).require(role)
        return Identity(holder.name, holder.role, holder.user, Way.PAGE, holder.owner)

    return check


Reading = Annotated[Identity, Depends(_needs(Role.READ))]
Using = Annotated[Identity, Depends(_needs(Role.USE))]
Approving = Annotated[Identity, Depends(_needs(Role.APPROVE))]
Administering = Annotated[Identity, Depends(_needs(Role.ADMIN))]


class FormFields(Mapping[str, str]):
    """What a form of the page sent; a field that is not there is empty."""

    def __init__(self, fields: Mapping[str, list[str]]) -> None:
        self._fields = fields

    def __getitem__(self, name: str) -> str:
        return self._fields.get(name, [""])[-1]

    def __contains__(self, name: object) -> bool:
        return name in self._fields

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def all(self, name: str) -> list[str]:
        return self._fields.get(name, [])


async def _read(request: Request) -> FormFields:
    try:
        text = (await request.body()).decode()
    except UnicodeDecodeError:
        raise InputError("The form is not UTF-8.", fix="Send it from the page.") from None
    return FormFields(parse_qs(text, keep_blank_values=True, max_num_fields=2_000))


Sent = Annotated[FormFields, Depends(_read)]
