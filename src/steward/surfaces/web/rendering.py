"""Pages from templates: one environment, everything escaped unless it was made safe on purpose."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote, urlencode

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from steward.contract.deciding import Role
from steward.contract.showing import in_one_line
from steward.surfaces.api.identity import Identity
from steward.surfaces.api.routes import notices
from steward.surfaces.api.routes.notices import NoticeShape
from steward.surfaces.api.state import platform_of
from steward.surfaces.web import assets
from steward.surfaces.web.display import look, markdown
from steward.surfaces.web.display.icons import icon
from steward.surfaces.web.visitor import visit_of
from steward.surfaces.web.visits import VISITS

MARK = "steward.mark"  # where a request's scope says what its page shows of the stream at least
TEMPLATES = Path(__file__).parent / "templates"
# Only what comes from this address runs or is shown; nothing inline, nothing evaluated, no frame.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
PAGES = (
    ("approvals", "Approvals", "inbox", Role.READ),
    ("chat", "Chat", "chat", Role.READ),
    ("tasks", "Tasks", "check", Role.READ),
    ("documents", "Documents", "book", Role.READ),
    ("activity", "Activity", "pulse", Role.READ),
    ("schedules", "Schedules", "clock", Role.READ),
    ("jobs", "Jobs", "repeat", Role.READ),
    ("memory", "Memory", "memory", Role.READ),
    ("tools", "Tools", "wrench", Role.READ),
    ("servers", "Servers", "plug", Role.READ),
    ("policy", "Policy", "shield", Role.READ),
    ("access", "Access", "key", Role.READ),
)


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    plain = (look.ago, look.moment, look.counted, look.milliseconds, look.kilobytes, look.pretty, look.place)
    words = (
        look.asker,
        look.risk_words,
        look.state_words,
        look.job_words,
        look.clock,
        look.ruling_words,
        look.browser_words,
    )
    filters: dict[str, Any] = {each.__name__: each for each in (*plain, *words)}
    filters |= {"markdown": markdown.render, "path": _as_path, "in_one_line": in_one_line}
    environment.filters.update(filters)  # pyright: ignore[reportUnknownMemberType] - Jinja's own dict
    names: dict[str, Any] = {"asset": assets.address, "icon": icon, "query": _as_query, "PAGES": PAGES}
    environment.globals.update(names)  # pyright: ignore[reportUnknownMemberType]
    return environment


def _as_path(text: object) -> str:
    return quote(str(text), safe="")


def _as_query(**fields: object) -> str:
    return urlencode({name: value for name, value in fields.items() if value not in (None, "")})


_ENVIRONMENT = _environment()


def markup(template: str, /, **context: Any) -> str:
    return _ENVIRONMENT.get_template(template).render(**context)


def part(template: str, /, *, headers: Mapping[str, str] | None = None, **context: Any) -> Response:
    """A piece of a page, for htmx."""
    return HTMLResponse(markup(template, **context), headers=dict(headers or {}))


async def page(
    request: Request, identity: Identity, template: str, /, *, title: str, here: str, **context: Any
) -> Response:
    """A whole document within the shell."""
    return HTMLResponse(
        markup(
            template,
            **context,
            me=identity,
            title=title,
            here=here,
            waiting=await waiting_count(request, identity),
            unseen=await unseen_notices(request, identity),
            trace_viewer=platform_of(request).settings.trace_viewer,
            at=request.scope[MARK],
            visit=VISITS.id_of(visit_of(request).word),
        )
    )


class Slice(Protocol):
    """A slice of one of the API's lists."""

    @property
    def items(self) -> Sequence[Any]: ...
    @property
    def next(self) -> str | None: ...


async def listing(
    request: Request, identity: Identity, name: str, found: Slice, /, **context: Any
) -> Response:
    """The page of this name that shows a slice of a list, its filters and the way to the next slice."""
    return await page(
        request,
        identity,
        f"{name}.html",
        title=name.capitalize(),
        here=name,
        items=found.items,
        next=found.next,
        **context,
    )


async def waiting_count(request: Request, identity: Identity) -> int:
    """How many calls and questions wait for this visitor."""
    platform = platform_of(request)
    proposals = await platform.orchestrator.approvals.list(
        states=("waiting",), user=identity.only, limit=MOST_COUNTED
    )
    questions = await platform.questions.waiting(user=identity.only, limit=MOST_COUNTED)
    return len(proposals.items) + len(questions)


MOST_COUNTED = 99
MOST_SHOWN = 5  # notices over a page; the rest comes when these were seen


async def unseen_notices(request: Request, identity: Identity) -> list[NoticeShape]:
    """What this visitor was told and has not seen yet."""
    found = await notices.list_notices(platform_of(request), identity, unseen=True, limit=MOST_SHOWN)
    return found.items


def told(text: str, *, undo: str | None = None, bad: bool = False) -> dict[str, str]:
    """Headers that make the page say something, with a way back where there is one."""
    return {"HX-Trigger": json.dumps({"steward:say": {"text": text, "undo": undo, "bad": bad}})}


def nothing(headers: Mapping[str, str] | None = None) -> Response:
    """Done, and what is on the page stays; empty swaps are not made."""
    return Response(status_code=204, headers=dict(headers or {}))
