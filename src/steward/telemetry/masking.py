"""The one place that hides secrets in whatever is about to be written or sent.

Owns what counts as a secret: by the name it stands under, by its shape, by being a known value.
Pure, bounded and never raising: it stands in the way of every log line and span. Does not own where
values go, nor which of them are worth recording.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from typing import Any, cast
from urllib.parse import quote
from uuid import UUID

import orjson

MASK = "***"
MAX_DEPTH = 32
SHORTEST_SECRET = 6  # shorter registered values would mask ordinary words
WINDOW = 4096  # text looked at where the answer is cut anyway: a secret cut in half must still be known
MAX_NODES = 400

_PACKING = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_SUBCLASS

# --- names ------------------------------------------------------------------------------------------

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_WITHIN = (  # hidden wherever these stand inside a name, separators removed
    *("password", "passwd", "passphrase", "passcode", "apikey", "credential", "authorization"),
    *("privatekey", "secretkey", "accesskey", "accountkey", "sharedkey", "signingkey", "encryptionkey"),
    *("masterkey", "servicekey", "subscriptionkey", "licensekey", "storagekey", "sshkey", "authkey"),
    *("hmackey", "clientsecret", "sessionid", "sessionkey", "connectionstring", "connstr", "mnemonic"),
    *("seedphrase", "recoverycode", "backupcode", "jsessionid", "phpsessid"),
)
_ALONE = frozenset(  # hidden as a word of its own
    (
        "secret",
        "secrets",
        "token",
        "tokens",
        "pwd",
        "cookie",
        "cookies",
        "jwt",
        "otp",
        "totp",
        "pin",
        "cvv",
        "cvc",
    )
)
_LAST = frozenset(("auth", "pass", "bearer", "sid"))  # hidden only as the last word: basic_auth, db_pass
_HARMLESS = frozenset(  # says something about a secret, is none
    (
        "count",
        "counts",
        "limit",
        "usage",
        "budget",
        "type",
        "name",
        "length",
        "size",
        "expiry",
        "expires",
        "url",
    )
)


@lru_cache(maxsize=8192)
def is_secret_name(name: str) -> bool:
    """Whether what stands under this key is hidden, in any case and with any separators."""
    words = [word.lower() for word in _WORDS.findall(name[:256])]
    if not words or words[-1] in _HARMLESS:
        return False
    joined = "".join(words)
    if any(part in joined for part in _WITHIN) or words[-1] in _LAST:
        return True
    return any(word in _ALONE or word.endswith(("token", "secret")) for word in words)


# --- shapes -----------------------------------------------------------------------------------------

# Each alternative begins with a letter, not with \b or a group: only then can `re` skip quickly to the
# few places where one may begin. Hence the word boundary as a look-behind.
_KEYED = "|".join(
    (
        *("password", "passwd", "passphrase", "passcode", "pwd", "secret", "credential", "bearer"),
        r"token(?!s?[a-rt-z]|s\W+\d)",
        *(rf"{word}(?<=\b{word})" for word in ("auth", "pin", "otp", "cvv", "cvc", "sig", "sid", "jwt")),
        *("session[ _-]?id", "session[ _-]?key", "connection[ _-]?string"),
        *("api[ _-]?key", "access[ _-]?key", "account[ _-]?key", "private[ _-]?key", "shared[ _-]?key"),
        *("signing[ _-]?key", "encryption[ _-]?key", "master[ _-]?key", "service[ _-]?key", "hmac[ _-]?key"),
        *("subscription[ _-]?key", "license[ _-]?key", "storage[ _-]?key", "ssh[ _-]?key", "auth[ _-]?key"),
    )
)
_ASSIGNED = r"""[\w-]{0,32}\\*["']?\s{0,3}(?:=>|:=|[:=])\s{0,3}"""
_SPOKEN = r"\s{1,3}(?:is|was|to)\s{1,3}(?=\S{0,200}\d)"
_QUOTED_OR_WORD = r"""(\\*["'])?(?(2)(?:(?!\2)(?:\\.|.))*|[^\s"',;&<>)\]}]{3,})"""


@dataclass(frozen=True, slots=True)
class _Shape:
    """A pattern, looked for only where one of its markers stands in the lower-cased text.

    Its groups are what stays: everything after the last of them is replaced. `folded` patterns are
    written in lower case and meet the lower-cased text, which is several times faster than IGNORECASE.
    """

    markers: tuple[str, ...]
    pattern: re.Pattern[str]
    folded: bool

    def replace(self, text: str, lowered: str) -> str:
        parts: list[str] = []
        done = 0
        for match in self.pattern.finditer(lowered if self.folded else text):
            parts += (
                text[done : match.end(match.lastindex or 0) if match.lastindex else match.start()],
                MASK,
            )
            done = match.end()
        return "".join((*parts, text[done:])) if parts else text


def _folded(markers: str, pattern: str) -> _Shape:
    return _Shape(tuple(markers.split()), re.compile(pattern, re.DOTALL), folded=True)


def _exact(markers: str, pattern: str) -> _Shape:
    return _Shape(tuple(markers.split()), re.compile(pattern, re.DOTALL), folded=False)


_NAMES = "pass pwd secret credential token bearer auth pin otp cvv cvc sig sid jwt session connection key"

_SHAPES = (
    _folded(
        "private",
        r"-----begin [a-z0-9 ]{0,40}private key[a-z ]{0,10}-----.*?(?:-----end [^-]{0,60}-----|\Z)",
    ),
    _folded(
        "authorization cookie",
        r"""((?:authorization|cookie)\\*["']?\s{0,3}[:=]\s{0,3})(\\*["'])?"""
        r"""(?(2)(?:(?!\2)(?:\\.|.))*|[^\r\n"']+)""",
    ),
    _folded(_NAMES, rf"((?:{_KEYED})(?:{_ASSIGNED}|{_SPOKEN})){_QUOTED_OR_WORD}"),
    _folded(_NAMES, rf"(--?[\w-]{{0,32}}(?:{_KEYED})[\w-]{{0,32}}\s{{1,3}}){_QUOTED_OR_WORD}"),
    _folded(
        "key token secret sig salt seed",
        r"((?:key|token|secret|signature|salt|seed)\b\W{1,4})(?=[\w+/-]{0,200}\d)[\w+/-]{24,}={0,2}",
    ),
    _folded("bearer", r"(\bbearer\s{1,3})[\w.~+/=:-]{6,}"),
    _exact("basic", r"(\b[Bb]asic\s{1,3})(?=[a-zA-Z0-9+/]{0,200}[A-Z0-9=])[A-Za-z0-9+/]{8,}={0,2}"),
    _exact(
        "://",
        r"""(://[^\s/:@"'\[]{0,128}:)(?!\d{1,5}(?:[/\s]|\Z))[^\s"'<>]{1,256}(?=@)""",
    ),
    _exact("://", r"""(://)[^\s/:@"']{20,256}(?=@)"""),
    _exact("eyj", r"\beyJ[\w-]{10,}\.[\w-]{4,}(?:\.[\w-]*){0,3}"),
    _exact("sk- sk_ rk_ pk_", r"\b(?:sk-|[srp]k_(?:live|test|prod)_)[\w-]{12,}"),
    _exact("ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"(?:gh[pousr]_|github_pat_)\w{16,}"),
    _exact("akia asia", r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}"),
    _exact("xox xapp-", r"\b(?:xox[a-z]-|xapp-)[\w-]{10,}"),
    _exact("aiza ya29.", r"\b(?:AIza|ya29\.)[\w-]{20,}"),
    _exact(
        "glpat- npm_ pypi- hf_ gsk_ xai- tvly- pplx- dckr_pat_ hvs. dop_v1_ shpat_ lin_api_ whsec_ sg. r8_",
        r"\b(?:glpat-|npm_|pypi-|hf_|gsk_|xai-|tvly-|pplx-|dckr_pat_|hvs\.|dop_v1_|shpat_|lin_api_|whsec_|SG\.|r8_)"
        r"[\w.-]{16,}",
    ),
    _exact("age-secret-key-", r"AGE-SECRET-KEY-1[A-Z0-9]{20,}"),
    _exact("hooks.slack.com/", r"(hooks\.slack\.com/services/)[\w/-]{8,}"),
    _exact("/api/webhooks/", r"(/api/webhooks/)[\w/-]{8,}"),
    _exact(":aa", r"\b\d{6,12}:AA[\w-]{30,}"),
)


def _shortest(markers: Iterable[str]) -> tuple[str, ...]:
    """Without those that contain another one."""
    every = dict.fromkeys(markers)
    return tuple(
        marker for marker in every if not any(other != marker and other in marker for other in every)
    )


_MARKERS = _shortest(
    [
        *(marker for shape in _SHAPES for marker in shape.markers),
        *("mnemonic", "recovery", "code", "connstr"),  # names that no shape looks for
    ]
)
_CLIPPED = "…"


class Masker:
    """Hides secrets. One per process is enough: a known secret is known everywhere (`MASKER`)."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known: tuple[str, ...] = ()
        self.register(secrets)

    def register(self, secrets: Iterable[str]) -> None:
        """Hide these values from now on, also where they stand percent-encoded or inside JSON."""
        known = set(self._known)
        for secret in secrets:
            if len(secret) >= SHORTEST_SECRET:
                known |= {secret, quote(secret, safe=""), pack(secret).decode()[1:-1]}
        self._known = tuple(sorted(known, key=len, reverse=True))

    def text(self, text: str) -> str:
        """The text with every secret in it replaced."""
        for secret in self._known:
            if secret in text:
                text = text.replace(secret, MASK)
        if len(text) < SHORTEST_SECRET:
            return text
        lowered = _lowered(text)
        for shape in _SHAPES:
            for marker in shape.markers:
                if marker in lowered:
                    replaced = shape.replace(text, lowered)
                    if replaced is not text:
                        text, lowered = replaced, _lowered(replaced)
                    break
        return text

    def value(self, value: Any) -> Any:
        """A copy made of JSON values, secrets replaced. What is not JSON becomes its type's name."""
        return self._walk(value, 0)

    def dumps(self, value: Any) -> bytes:
        """Masked JSON. A value without anything suspicious costs one serialisation and one scan."""
        try:
            packed = pack(value)
        except (TypeError, ValueError, RecursionError):  # huge integers, lone surrogates, cycles
            return pack(self._walk(value, 0))
        return pack(self._walk(value, 0)) if self._suspicious(packed) else packed

    def masked_json(self, packed: bytes) -> bytes:
        """The same for a value that was serialised before it was masked."""
        return pack(self._walk(orjson.loads(packed), 0)) if self._suspicious(packed) else packed

    def clip(self, value: Any, limit: int) -> str:
        """At most `limit` bytes of masked JSON (of the bare text for a string); work is bounded too."""
        if isinstance(value, str):
            shown = self.text(value[:WINDOW]).encode(errors="replace")
        else:
            shown = self.dumps(_pruned(value, [MAX_NODES], 0))
        if len(shown) <= limit and (not isinstance(value, str) or len(value) <= WINDOW):
            return shown.decode()
        return shown[: limit - len(_CLIPPED.encode())].decode(errors="ignore") + _CLIPPED

    def _suspicious(self, packed: bytes) -> bool:
        text = packed.decode()
        lowered = text.lower()
        for marker in _MARKERS:  # a loop: several times faster than any() here
            if marker in lowered:
                return True
        return any(secret in text for secret in self._known)

    def _walk(self, value: Any, depth: int) -> Any:
        match value:
            case str():
                return self.text(_sound(value))
            case _ if depth >= MAX_DEPTH:
                return _CLIPPED
            case Mapping():
                return self._mapping(cast("Mapping[Any, Any]", value), depth + 1)
            case list() | tuple() | set() | frozenset():
                return self._sequence(list(cast("Iterable[Any]", value)), depth + 1)
            case _:
                return _plain(value)

    def _mapping(self, mapping: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        masked: dict[str, Any] = {}
        for key, value in mapping.items():
            name = _sound(key if type(key) is str else str(_plain(key)))
            masked[self.text(name)] = (
                _hidden(name, value) if is_secret_name(name) else self._walk(value, depth)
            )
        # {"name": "Authorization", "value": ...}: how headers and variables travel in lists
        label = mapping.get("name", mapping.get("key"))
        if "value" in masked and isinstance(label, str) and is_secret_name(label):
            masked["value"] = _hidden(label, mapping["value"])
        return masked

    def _sequence(self, items: list[Any], depth: int) -> list[Any]:
        masked: list[Any] = []
        follows = False  # the item before was a name: ("Authorization", ...) or --password ...
        for item in items:
            masked.append(_hidden("", item) if follows else self._walk(item, depth))
            follows = (
                isinstance(item, str)
                and (item.startswith("-") or (len(items) == 2 and not masked[1:]))
                and "=" not in item
                and " " not in item
                and is_secret_name(item)
            )
        return masked


def _hidden(name: str, value: Any) -> Any:
    """What stands under a secret's name. Nothing to hide in nothing; counted tokens are a number."""
    if value is None or isinstance(value, bool) or value == "":
        return value
    if isinstance(value, int | float) and name.lower().endswith("tokens"):
        return value
    return MASK


def _plain(value: Any) -> Any:
    match value:
        case Enum():
            return _plain(value.value)
        case datetime() | date() | time() | UUID() | Decimal():
            return str(value) if isinstance(value, UUID | Decimal) else value.isoformat()
        case str():
            return str.__str__(value)
        case int() if not -(2**63) <= value < 2**64:
            return hex(value)[:WINDOW]  # JSON readers lose such numbers, and str() of a huge one may refuse
        case None | bool() | int() | float():
            return value
        case _:
            return f"<{type(value).__name__}>"


def _default(value: Any) -> Any:
    match value:
        case Mapping():
            return dict(cast("Mapping[Any, Any]", value))
        case set() | frozenset() | tuple() | list():
            return list(cast("Iterable[Any]", value))
        case _:
            return _plain(value)


def pack(value: Any) -> bytes:
    """JSON as it is, secrets included; `MASKER.masked_json` hides them later."""
    return orjson.dumps(value, default=_default, option=_PACKING)


def _lowered(text: str) -> str:
    """Lower case with every character at its old place."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


def _sound(text: str) -> str:
    """Text that can be written as UTF-8."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def _pruned(value: Any, left: list[int], depth: int) -> Any:
    """Enough of a value to show its beginning, without touching the rest of a huge one."""
    left[0] -= 1
    match value:
        case str():
            return value[:WINDOW]
        case _ if depth >= MAX_DEPTH:
            return _CLIPPED
        case Mapping():
            kept: dict[Any, Any] = {}
            for key, item in cast("Mapping[Any, Any]", value).items():
                if left[0] <= 0:
                    break
                kept[key] = _pruned(item, left, depth + 1)
            return kept
        case list() | tuple():
            items: list[Any] = []
            for item in cast("Sequence[Any]", value):
                if left[0] <= 0:
                    break
                items.append(_pruned(item, left, depth + 1))
            return items
        case _:
            return value


MASKER = Masker()
"""The process's own masker: `MASKER.register(...)` makes a secret known to every log and span."""
