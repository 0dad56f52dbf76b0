"""What a secret looks like: the names it stands under and the shapes it has.

Data, mostly, and compiled once. Does not own the replacing in values and files (masking.py).
"""

import re
from dataclasses import dataclass
from functools import lru_cache

MASK = "***"
LONGEST_NAME = 256

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
    words = [word.lower() for word in _WORDS.findall(name[:LONGEST_NAME])]
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
class Shape:
    """A pattern, looked for only where one of its markers stands in the lower-cased text.

    Its groups are what stays: everything after the last of them is replaced. `folded` patterns are
    written in lower case and meet the lower-cased text, which is several times faster than IGNORECASE.
    """

    markers: frozenset[str]
    pattern: re.Pattern[str]
    folded: bool

    def found(self, text: str, lowered: str) -> bool:
        return self.pattern.search(lowered if self.folded else text) is not None

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


def _folded(markers: str, pattern: str) -> Shape:
    return Shape(frozenset(markers.split()), re.compile(pattern, re.DOTALL), folded=True)


def _exact(markers: str, pattern: str) -> Shape:
    return Shape(frozenset(markers.split()), re.compile(pattern, re.DOTALL), folded=False)


_NAMES = "pass pwd secret credential token bearer auth pin otp cvv cvc sig sid jwt session connection key"

SHAPES = (
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


_NAME_PARTS = (  # every secret's name has one of these in it, in lower case
    *("pass", "pwd", "secret", "cred", "token", "bearer", "auth", "pin", "otp", "cvv", "cvc", "sid", "jwt"),
    *("sess", "conn", "key", "cookie", "mnemonic", "seed", "recovery", "backup"),
)
_MARKERS = tuple(dict.fromkeys([*_NAME_PARTS, *(marker for shape in SHAPES for marker in shape.markers)]))
_NAME_PART = re.compile("|".join(_NAME_PARTS))


def markers_in(lowered: str) -> list[str]:
    """What a lower-cased text may have a secret next to. Nothing in, nothing to hide: the usual case."""
    return [marker for marker in _MARKERS if marker in lowered]


def shapes_for(markers: list[str]) -> list[Shape]:
    """The shapes worth looking for, in their order."""
    return [shape for shape in SHAPES if not shape.markers.isdisjoint(markers)]


LONGEST_LABEL = 64


def names_a_secret(json: str, lowered: str) -> bool:
    """Whether a key in this compact JSON, or a short string that may label a value, is a secret's name."""
    for match in _NAME_PART.finditer(lowered):
        begin = json.rfind('"', max(0, match.start() - LONGEST_NAME), match.start()) + 1
        end = json.find('"', match.end())
        names = begin and (json.startswith(":", end + 1) or end - begin <= LONGEST_LABEL)
        if names and is_secret_name(json[begin:end]):
            return True
    return False
