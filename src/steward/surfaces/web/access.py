"""Who may come in: keys, people and where they are told, and browsers that are signed in."""

from typing import Any, cast, get_args

from fastapi import APIRouter, Request, Response

from steward.contract.deciding import Role
from steward.contract.errors import InputError
from steward.surfaces.api.accounts import keys, users, visits
from steward.surfaces.api.accounts.keys import KeyChangeBody, NewKey, RoleWord
from steward.surfaces.api.accounts.users import NewUserBody, UserChangeBody
from steward.surfaces.api.routes import notices
from steward.surfaces.api.routes.notices import AddressBody, AddressList
from steward.surfaces.api.state import platform_of
from steward.surfaces.web.rendering import page, part, told
from steward.surfaces.web.visitor import Administering, Reading, Sent, visit_of
from steward.surfaces.web.visits import VISITS
from steward.tasks.notices import Medium

router = APIRouter()

MEDIA = {
    Medium.EMAIL: "e-mail",
    Medium.WEBHOOK: "webhook",
    Medium.NTFY: "ntfy",
    Medium.DESKTOP: "the desktop",
}
PLACEHOLDERS = {
    "email": "ana@example.org",
    "webhook": "https://example.org/hooks/steward",
    "ntfy": "https://ntfy.sh/my-topic",
}


@router.get("/access")
async def show_access(request: Request, identity: Reading) -> Response:
    platform = platform_of(request)
    more: dict[str, Any] = {"keys": None, "users": None}
    if identity.role >= Role.ADMIN:
        more = {
            "keys": (await keys.list_keys(platform, identity, limit=1_000)).items,
            "users": (await users.list_users(platform, identity, limit=1_000)).items,
        }
    return await page(
        request,
        identity,
        "access.html",
        title="Access",
        here="access",
        visits=(await visits.list_visits(identity)).items,
        this_visit=VISITS.id_of(visit_of(request).word),
        roles=get_args(RoleWord),
        **more,
    )


@router.post("/access/visits/{visit_id}/end")
async def end_visit(identity: Reading, visit_id: str) -> Response:
    await visits.end_visit(identity, visit_id)
    return Response("", headers=told("That browser is signed out."))


@router.post("/access/keys")
async def add_key(request: Request, identity: Administering, form: Sent) -> Response:
    """Its token is shown once, here."""
    body = NewKey(name=form["name"].strip() or " ", role=_role(form["role"]), user=form["user"] or "local")
    made = await keys.add_key(platform_of(request), body, identity)
    return part("made_key.html", key=made, headers={"HX-Trigger": "keys"})


@router.post("/access/keys/{key_id}")
async def change_key(request: Request, identity: Administering, form: Sent, key_id: str) -> Response:
    body = KeyChangeBody(role=_role(form["role"]))
    key = await keys.change_key(platform_of(request), key_id, body, identity)
    return Response(
        status_code=204, headers=told(f"{key.name} has the role {key.role} from its next request on.")
    )


@router.post("/access/keys/{key_id}/revoke")
async def revoke_key(request: Request, identity: Administering, key_id: str) -> Response:
    await keys.revoke_key(platform_of(request), key_id, identity)
    return Response("", headers=told("Revoked: it opens nothing any more."))


def _role(word: str) -> RoleWord:
    if word not in get_args(RoleWord):
        raise InputError(f"There is no role '{word[:40]}'.", fix="Choose one of the list.")
    return cast("RoleWord", word)


@router.post("/access/users")
async def add_user(request: Request, identity: Administering, form: Sent) -> Response:
    body = NewUserBody(
        id=form["id"].strip(), name=form["name"].strip() or None, time_zone=form["time_zone"].strip() or "UTC"
    )
    user = await users.add_user(platform_of(request), identity, body)
    return Response(status_code=204, headers=told(f"Added {user.name}.") | {"HX-Location": "/access"})


@router.post("/access/users/{user_id}")
async def change_user(request: Request, identity: Administering, form: Sent, user_id: str) -> Response:
    body = UserChangeBody(name=form["name"].strip() or None, time_zone=form["time_zone"].strip() or None)
    user = await users.change_user(platform_of(request), identity, user_id, body)
    return Response(status_code=204, headers=told(f"Changed {user.name}."))


@router.post("/access/users/{user_id}/erase")
async def erase_user(request: Request, identity: Administering, form: Sent, user_id: str) -> Response:
    """With everything they own, for good: the person has typed the id."""
    await users.erase_user(platform_of(request), identity, user_id, confirm=form["typed"])
    return Response("", headers=told(f"Erased {user_id} with everything they owned."))


@router.get("/access/users/{user_id}/addresses")
async def show_addresses(request: Request, identity: Administering, user_id: str) -> Response:
    """Where somebody is told, beside the page and the terminal."""
    return _addresses(request, user_id, await notices.list_addresses(platform_of(request), identity, user_id))


@router.post("/access/users/{user_id}/addresses/{medium}")
async def put_address(
    request: Request, identity: Administering, form: Sent, user_id: str, *, medium: Medium
) -> Response:
    body = AddressBody(address=form["address"].strip()[:2_000])
    known = await notices.put_address(platform_of(request), identity, user_id, medium, body)
    said = told(f"{user_id} is told by {MEDIA[medium]} from now on.")
    return _addresses(request, user_id, known, headers=said)


@router.post("/access/users/{user_id}/addresses/{medium}/remove")
async def remove_address(request: Request, identity: Administering, user_id: str, medium: Medium) -> Response:
    known = await notices.remove_address(platform_of(request), identity, user_id, medium)
    said = told(f"{user_id} is not told by {MEDIA[medium]} any more.")
    return _addresses(request, user_id, known, headers=said)


def _addresses(
    request: Request, user_id: str, known: AddressList, *, headers: dict[str, str] | None = None
) -> Response:
    return part(
        "addresses.html",
        headers=headers,
        user_id=user_id,
        known=known,
        media={medium.value: words for medium, words in MEDIA.items()},
        placeholders=PLACEHOLDERS,
        sends_mail=platform_of(request).settings.smtp_url is not None,
    )
