"""The page's gate: whoever is not signed in sees how to, and nothing of the page behind it.

Owns the sign-in: a one-time address or a key becomes a visit. Stands in front of the page's documents, parts
and socket alike. Does not own keys (policy/access.py), nor what visits are (visits.py). The API knows no
cookies: nothing here opens a route of it.
"""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from html import escape
from typing import Any
from urllib.parse import parse_qs, quote, urlencode

from steward.contract.errors import StewardError
from steward.policy.access import Keys, came_through_a_proxy
from steward.surfaces.web.visits import VISITS, SignInLinks, cookie_of, word_in

App = Callable[[Any, Any, Any], Awaitable[None]]
Scope = MutableMapping[str, Any]

SIGN_IN = "/sign-in"
FRONT = "/"
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
STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 12vh auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } input, button { font: inherit; padding: .5rem .7rem; } input { width: 100%;
box-sizing: border-box; } button { margin-top: .7rem; background: #0f766e; color: #fff; border: 0;
border-radius: .4rem; } code { background: #8883; padding: .1rem .3rem; border-radius: .2rem; }
.problem { border-left: .25rem solid #b91c1c; padding-left: .7rem; }
"""
USED = "This address was used before, or is too old. Each one signs in one browser, once."


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
        problem = await self._problem(VISITS.recall(word_in(headers.get("cookie", ""))), headers)
        if problem is None:
            await self._page(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        elif not _is_document(scope):
            await _answer(send, 401, "")
        elif headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            # A browser that follows a link from elsewhere leaves the cookie at home, signed in or not. Asked
            # once more, now by ourselves, it brings it along.
            await _answer(send, 200, _onward(f"{SIGN_IN}?{urlencode({'to': _target(scope)})}"))
        else:
            await _answer(send, 200, _form(_target(scope)))

    async def _problem(self, key: str | None, headers: Mapping[str, str]) -> str | None:
        """Why this key does not let its bearer in now; None when it does."""
        if key is None:
            return "Nobody is signed in."
        try:
            await self._keys.admit(key, passed_on=came_through_a_proxy(headers))
        except StewardError as error:
            return error.explain()
        return None

    async def _sign_in(self, scope: Scope, headers: Mapping[str, str], receive: Any, send: Any) -> None:
        asked = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        to = _local(_first(asked, "to"))
        here = word_in(headers.get("cookie", ""))
        signed_in = await self._problem(VISITS.recall(here), headers) is None
        if scope["method"] == "POST":
            form = parse_qs((await _body(receive)).decode(errors="replace"))
            to = _local(_first(form, "to"))
            key, unknown = _first(form, "key").strip() or None, "A key is needed."
        elif "code" in asked:
            key, unknown = self._links.use(_first(asked, "code")), USED
        else:
            await _answer(send, 200, _onward(to) if signed_in else _form(to))
            return
        problem = unknown if key is None else await self._problem(key, headers)
        if key is not None and problem is None:
            VISITS.forget(here)
            cookie = (b"set-cookie", cookie_of(VISITS.begin(key)).encode())
            await _answer(send, 200, _onward(to), cookie)
        elif signed_in:
            await _answer(send, 200, _onward(to))  # a used address again, in the browser that it signed in
        else:
            await _answer(send, 401, _form(to, problem))


def _first(fields: Mapping[str, list[str]], name: str) -> str:
    return fields.get(name, [""])[0]


def _is_document(scope: Scope) -> bool:
    path: str = scope["path"]
    part = path.startswith("/_stcore/") or "." in path.rpartition("/")[2]
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


def _form(to: str, problem: str | None = None) -> str:
    said = f'<p class="problem" role="alert">{escape(problem)}</p>' if problem else ""
    return _document(
        f"<h1>Steward</h1>{said}<p>Sign in with the address that <code>steward up</code> printed, or make "
        "another on the machine where it runs: <code>steward open</code>.</p>"
        f'<form method="post" action="{SIGN_IN}"><p><label for="key">Or with a key, from '
        "<code>steward keys add NAME --role approve</code>:</label></p>"
        '<input id="key" name="key" type="password" autocomplete="current-password" required>'
        f'<input type="hidden" name="to" value="{escape(to, quote=True)}">'
        "<button>Sign in</button></form>"
    )
