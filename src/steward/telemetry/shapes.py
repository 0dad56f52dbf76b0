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
    *("seedphrase", "recoverycode", "backupcode", "jsessionid", "phpsessid", "presharedkey"),
    *("passwort", "kennwort", "motdepasse", "contrasena", "wachtwoord"),
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
_LAST_OF_SEVERAL = frozenset(("pat", "psk"))  # github_pat, but not pat
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
    if len(words) > 1 and words[-1] in _LAST_OF_SEVERAL:
        return True
    return any(word in _ALONE or word.endswith(("token", "secret")) for word in words)


# --- shapes -----------------------------------------------------------------------------------------

# Each alternative begins with a letter, not with \b or a group: only then can `re` skip quickly to the
# few places where one may begin. Hence the word boundary as a look-behind.
_KEYED = "|".join(
    (
        *("password", "passwd", "passphrase", "passcode", "pwd", "secret", "credential", "bearer"),
        *("passwort", "kennwort", "mot de passe", "contraseña", "contrasena", "senha", "wachtwoord", "psk"),
        r"token(?![a-z])",
        r"tokens(?=\W{1,8}(?=\S{0,200}\d)(?!\d{1,20}\b))",  # of them one may also only count
        *(rf"{word}(?<=\b{word})(?![a-z])" for word in ("auth", "otp", "cvv", "cvc", "sig", "sid", "jwt")),
        r"pin(?<=\bpin)(?:[ _-]?code)?(?![a-z])",
        r"""pass(?:(?<=[_"'-]pass)(?![a-z])|(?<![a-z]pass)(?=\s{0,3}=))""",  # a mountain's pass: open
        *(r"pat(?<=[_-]pat)(?![a-z])", "oauth_verifier", "code_verifier"),
        *("session[ _-]?id", "session[ _-]?key", "connection[ _-]?string"),
        *("api[ _-]?key", "access[ _-]?key", "account[ _-]?key", "private[ _-]?key", "shared[ _-]?key"),
        *("signing[ _-]?key", "encryption[ _-]?key", "master[ _-]?key", "service[ _-]?key", "hmac[ _-]?key"),
        *("subscription[ _-]?key", "license[ _-]?key", "storage[ _-]?key", "ssh[ _-]?key", "auth[ _-]?key"),
    )
)
_ASSIGNED = r"""[\w-]{0,32}\\*["']?\s{0,3}(?:=>|:=|[:=])\s{0,3}"""
_SPOKEN = r"\s{1,3}(?:is|was|to)\s{1,3}(?=\S{0,200}\d)"
_QUOTED = r"""(["'])[^"'\n]{1,256}"""
_QUOTED_OR_WORD = r"""(\\*["'])?(?(2)(?:(?!\2)(?:\\.|.))*|[^\s"',;&<>)\]}]{3,})"""


@dataclass(frozen=True, slots=True)
class SecretShape:
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


def _folded(markers: str, pattern: str) -> SecretShape:
    return SecretShape(frozenset(markers.split()), re.compile(pattern, re.DOTALL), folded=True)


def _exact(markers: str, pattern: str) -> SecretShape:
    return SecretShape(frozenset(markers.split()), re.compile(pattern, re.DOTALL), folded=False)


_IN_COMMAND = r"\b[^\n|;&]{0,300}?\s"

_ELEMENTS = (
    _folded("</", rf"(<(?:[\w.-]{{1,32}}:)?[\w-]{{0,32}}(?:{_KEYED})[\w-]{{0,32}}>)[^<>]{{1,4096}}(?=</)"),
    # <add key="ApiKey" value="..."/>, and - name: API_KEY, then value: ...
    _folded(
        "value",
        r"""((?:name|key)\\*["']?\s{0,3}[:=]\s{0,3}\\*["']?[\w.:-]{0,48}"""
        rf"(?:{_KEYED})"
        r"""[\w.:-]{0,48}\\*["']?,?\s{1,64}\\*["']?value\\*["']?\s{0,3}[:=]\s{0,3})"""
        rf"{_QUOTED_OR_WORD}",
    ),
)

_COMMANDS = (
    _folded(
        "curl wget",
        rf"""((?:curl|wget){_IN_COMMAND}(?:-u|--user|--proxy-user)[\s=]{{1,3}}["']?[^\s:"']{{1,128}}:)[^\s"']+""",
    ),
    _folded("sshpass login", rf"((?:sshpass|\blogin){_IN_COMMAND}-p\s{{0,3}})[^\s-]\S{{3,}}"),
    _folded("redis-cli", rf"(redis-cli{_IN_COMMAND}-a\s{{0,3}})\S{{3,}}"),
    _folded("mysql mariadb", rf"((?:mysql|mariadb)\w{{0,8}}{_IN_COMMAND}-p)\S{{3,}}"),
    _folded("ldap", rf"(ldap\w{{2,8}}{_IN_COMMAND}-w\s{{1,3}})\S{{3,}}"),
    _folded("login", r"(\blogin\s{1,3}\S{1,128}\s{1,3}password\s{1,3})\S{3,}"),  # .netrc
    _exact(
        "pass pwd secret token key credential pat",  # not "arg": every line has arguments
        r"(\b(?:ENV|ARG|SETX|setx)\s{1,3}[A-Z0-9_]{0,64}(?:PASS|PASSWORD|PWD|SECRET|TOKEN|KEY|CREDENTIALS?|PAT)"
        r"[A-Z0-9_]{0,32}\s{1,3})\S{3,}",
    ),
    _folded("identified", rf"(identified\s{{1,3}}(?:with\s{{1,3}}\S{{1,64}}\s{{1,3}})?by\s{{1,3}}){_QUOTED}"),
    _folded("passw", rf"(passw(?:or[dt]|d)\s{{1,3}}){_QUOTED}"),  # CREATE USER ann WITH PASSWORD '...'
    _folded("securestring", rf"(securestring\s{{1,3}}(?:-string\s{{1,3}})?){_QUOTED}"),
    _folded(
        "auth", r"""(\bauth\s{0,3}=\s{0,3}\(\s{0,3}["'][^"'\n]{0,128}["']\s{0,3},\s{0,3}["'])[^"'\n]{1,256}"""
    ),
    _folded("wifi:", r"(wifi:[^\n]{0,200}?;p:)[^;\n]{1,128}"),
    _folded("jdbc:oracle", r"(jdbc:oracle:\w{1,16}:[^\s/@]{1,64}/)[^\s@]{1,128}(?=@)"),
    _exact(  # what a password became in a file of accounts
        "$",
        r"(\$(?:apr1|[1567y]|2[abxy]|argon2(?:id|i|d)|scrypt|pbkdf2[\w-]{0,16})\$)[A-Za-z0-9./$=,+-]{20,}",
    ),
)

_NAMES = (
    "pass pwd secret credential token bearer auth pin otp cvv cvc sig sid jwt session connection key "
    "kennwort contrase senha wachtwoord psk pat verifier"
)

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
    _folded(_NAMES, rf"(-(?<![\w-]-)-?[\w-]{{0,32}}(?:{_KEYED})[\w-]{{0,32}}\s{{1,3}}){_QUOTED_OR_WORD}"),
    *_ELEMENTS,
    *_COMMANDS,
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
    _exact("hooks.slack.com/", r"(hooks\.slack\.com/services/)[\w/-]{8,}"),
    _exact("/api/webhooks/", r"(/api/webhooks/)[\w/-]{8,}"),
)


_NAME_PARTS = (  # every secret's name has one of these in it, in lower case
    *("pass", "pwd", "secret", "cred", "token", "bearer", "auth", "pin", "otp", "cvv", "cvc", "sid", "jwt"),
    *("sess", "conn", "key", "cookie", "mnemonic", "seed", "recovery", "backup", "kennwort", "wachtwoord"),
    *("contrasena", "pat", "psk"),
)
_MARKERS = tuple(dict.fromkeys([*_NAME_PARTS, *(marker for shape in SHAPES for marker in shape.markers)]))
_BY_MARKER = {
    marker: tuple(place for place, shape in enumerate(SHAPES) if marker in shape.markers)
    for marker in _MARKERS
}
_NAME_PART = re.compile("|".join(_NAME_PARTS))


def markers_in(lowered: str) -> list[str]:
    """What a lower-cased text may have a secret next to. Nothing in, nothing to hide: the usual case."""
    return [marker for marker in _MARKERS if marker in lowered]


def shapes_for(markers: list[str]) -> list[SecretShape]:
    """The shapes worth looking for, in their order."""
    wanted = {place for marker in markers for place in _BY_MARKER.get(marker, ())}
    return [SHAPES[place] for place in sorted(wanted)]


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
