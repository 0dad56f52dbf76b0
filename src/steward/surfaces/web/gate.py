"""The page's gate: whoever is not signed in sees how to, and nothing of the page behind it.

Owns the sign-in: a one-time address or a key becomes a visit. Stands in front of the page's documents, parts
and stream alike. Does not own keys (policy/access.py), nor what visits are (visits.py). The API knows no
cookies: nothing here opens a route of it.
"""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlencode

from steward.contract.errors import StewardError
from steward.policy.access import Holder, Keys, came_through_a_proxy
from steward.surfaces.web.display.icons import PATHS
from steward.surfaces.web.visits import VISITS, SignInLinks, cookie_of, word_in

App = Callable[[Any, Any, Any], Awaitable[None]]
Scope = MutableMapping[str, Any]

SIGN_IN = "/sign-in"
FRONT = "/"
PARTS = ("/static/", "/events", "/waiting", "/sw.js", "/manifest.webmanifest")  # never documents
VISIT = "steward.visit"  # where a request's scope says whose visit it is
ELSEWHERE = ("cross-site", "same-site")  # whence a browser says that it was sent
MAX_FORM = 10_000
POLICY = b"default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'"
# Not `no-referrer`: with that a browser hides, even from us, that the form was ours.
HEADERS = (
    (b"content-type", b"text/html; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", POLICY),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
)
STYLE = (Path(__file__).parent / "static" / "sign-in.css").read_text(encoding="utf-8")
SHIELD = '<svg viewBox="0 0 24 24" aria-hidden="true"><path d="{}"/></svg>'.format(PATHS["shield"])
USED = "This address was used before, or is too old. Each one signs in one browser, once."


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """Whose request it is: a browser that is signed in, and what its key may."""

    word: str
    holder: Holder


class Gate:
    """An ASGI application in front of the page."""

    def __init__(self, page: App, *, keys: Keys, links: SignInLinks) -> None:
        self._page = page
        self._keys = keys
        self._links = links

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if scope["type"] == "http" and scope["path"].rstrip("/") == SIGN_IN:
            await self._sign_in(scope, headers, receive, send)
            return
        word = word_in(headers.get("cookie", ""))
        holder = await self._admitted(VISITS.recall(word), headers)
        if isinstance(holder, Holder):
            scope[VISIT] = Visit(word=word, holder=holder)
            await self._page(scope, receive, send)
        elif not _is_document(scope):
            await _answer(send, 401, "You are not signed in any more. Load the page again.")
        elif headers.get("sec-fetch-site") in ELSEWHERE:
            # A browser that follows a link from elsewhere leaves the cookie at home, signed in or not. Asked
            # once more, now by ourselves, it brings it along.
            await _answer(send, 200, _onward(f"{SIGN_IN}?{urlencode({'to': _target(scope)})}"))
        else:
            await _answer(send, 200, _form(_target(scope)))

    async def _admitted(self, key: str | None, headers: Mapping[str, str]) -> Holder | str:
        """Whom this key lets in now, or why it does not."""
        if key is None:
            return "Nobody is signed in."
        try:
            return await self._keys.admit(key, passed_on=came_through_a_proxy(headers))
        except StewardError as error:
            return error.explain()

    async def _of_another(self, code: str, headers: Mapping[str, str]) -> str | None:
        """As whom a page of elsewhere would sign this browser in; None where it is the owner, or nobody."""
        key = self._links.key_of(code) if headers.get("sec-fetch-site") in ELSEWHERE else None
        holder = await self._admitted(key, headers)
        return holder.name if isinstance(holder, Holder) and not holder.owner else None

    async def _sign_in(self, scope: Scope, headers: Mapping[str, str], receive: Any, send: Any) -> None:
        asked = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        to = _local(_first(asked, "to"))
        here = word_in(headers.get("cookie", ""))
        signed_in = isinstance(await self._admitted(VISITS.recall(here), headers), Holder)
        if scope["method"] == "POST":
            form = parse_qs((await _body(receive)).decode(errors="replace"))
            to, code = _local(_first(form, "to")), _first(form, "code")
            key, unknown = _first(form, "key").strip() or None, "A key is needed."
            if code:
                key, unknown = self._links.use(code), USED
        elif "code" in asked and (name := await self._of_another(_first(asked, "code"), headers)):
            await _answer(send, 200, _sign_in_as(name, _first(asked, "code"), to))
            return
        elif "code" in asked:
            key, unknown = self._links.use(_first(asked, "code")), USED
        else:
            await _answer(send, 200, _onward(to) if signed_in else _form(to))
            return
        holder = unknown if key is None else await self._admitted(key, headers)
        if key is not None and isinstance(holder, Holder):
            VISITS.forget(here)
            browser = headers.get("user-agent", "")
            word = VISITS.begin(key, name=holder.name, user=holder.user, browser=browser)
            await _answer(send, 200, _onward(to), (b"set-cookie", cookie_of(word).encode()))
        elif signed_in:
            await _answer(send, 200, _onward(to))  # a used address again, in the browser that it signed in
        else:
            await _answer(send, 401, _form(to, str(holder)))


def _first(fields: Mapping[str, list[str]], name: str) -> str:
    return fields.get(name, [""])[0]


def _is_document(scope: Scope) -> bool:
    path: str = scope["path"]
    part = path.startswith(PARTS) or any(name == b"hx-request" for name, _ in scope["headers"])
    return scope["method"] in ("GET", "HEAD") and not part


def _target(scope: Scope) -> str:
    query = scope.get("query_string", b"").decode("latin-1")
    return _local(scope["path"] + (f"?{query}" if query else ""))


def _local(path: str) -> str:
    """An address within this server and no other, whatever was asked for."""
    fine = path.startswith("/") and path[1:2] not in ("/", "\\") and not path.startswith(SIGN_IN)
    return quote(path, safe="/?=&%-._~") if fine else FRONT


async def _body(receive: Any) -> bytes:
    content = b""
    while len(content) <= MAX_FORM:
        message = await receive()
        content += message.get("body", b"")
        if message["type"] != "http.request" or not message.get("more_body"):
            break
    return content[:MAX_FORM]


async def _answer(send: Any, status: int, page: str, *more: tuple[bytes, bytes]) -> None:
    content = page.encode()
    length = (b"content-length", b"%d" % len(content))
    await send({"type": "http.response.start", "status": status, "headers": [*HEADERS, length, *more]})
    await send({"type": "http.response.body", "body": content})


def _document(body: str, head: str = "") -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Steward</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{head}<style>{STYLE}</style></head><body><main>{body}</main></body></html>"
    )


def _onward(to: str) -> str:
    """Goes on by itself: a step that this server takes, so that the browser brings its cookie."""
    where = escape(to, quote=True)
    return _document(
        f'<p><a href="{where}">Go on to Steward</a></p>',
        head=f'<meta http-equiv="refresh" content="0;url={where}">',
    )


def _sign_in_as(name: str, code: str, to: str) -> str:
    """Whoever only followed a link must not find themselves at work in somebody else's name."""
    return _document(
        f"<h1>{SHIELD}Steward</h1><p>A page of another site signs you in here with the key "
        f"<b>{escape(name)}</b>. What you do then is done in that name.</p>"
        f'<form method="post" action="{SIGN_IN}">'
        f'<input type="hidden" name="code" value="{escape(code, quote=True)}">'
        f'<input type="hidden" name="to" value="{escape(to, quote=True)}">'
        f"<button>Sign in as {escape(name)}</button></form>"
    )


def _form(to: str, problem: str | None = None) -> str:
    said = f'<p class="problem" role="alert">{escape(problem)}</p>' if problem else ""
    return _document(
        f"<h1>{SHIELD}Steward</h1>{said}"
        "<p>Sign in with the address that <code>steward up</code> printed, or make "
        "another on the machine where it runs: <code>steward open</code>.</p>"
        f'<form method="post" action="{SIGN_IN}"><p><label for="key">Or with a key, from '
        "<code>steward keys add NAME --role approve</code>:</label></p>"
        '<input id="key" name="key" type="password" autocomplete="current-password" required>'
        f'<input type="hidden" name="to" value="{escape(to, quote=True)}">'
        "<button>Sign in</button></form>"
    )
