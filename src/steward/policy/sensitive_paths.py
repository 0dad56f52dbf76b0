"""What counts as sensitive material, by path.

Owns the list. Does not own how paths are found in arguments or undisguised (`sensitive`): it receives
them in lower case, with '/' between parts and before the first.
"""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from steward.contract import linear_re as re
from steward.policy.globs import matches_glob

_DATA = (
    r"(?:json|ya?ml|toml|ini|txt|conf|cfg|env|xml|csv|tsv|properties|db|sqlite3?|dat|enc|gpg|asc|xlsx?"
    r"|docx?|bak|old|rtf|pdf|der|bin)"
)
_STAGE = r"(?:[._-](?:prod|production|dev|development|staging|test|local|backup|bak|old|\d+))*"
_WORDS = (
    r"(?:secrets?|passwords?|passwd|passphrases?|credentials?|creds|api[_-]?keys?|access[_-]?keys?"
    r"|private[_-]?keys?|recovery[_-]?codes?|seed[_-]?phrase|mnemonic)"
)
_OWNER = (
    r"(?:[^/]*[._-])?(?:access|auth|api|refresh|oauth2?|bearer|bot|github|gitlab|slack|session|id|service"
    r"|google|user|admin)[._-]?"
)

_NOT_PUB = r"\.(?:[^p/][^/]*|p(?:[^u/][^/]*|u(?:[^b/][^/]*)?)?)?"  # the public half of a key is no secret

_MATERIAL: dict[str, tuple[str, ...]] = {
    "a system's account database": (
        r"/etc/(?:g?shadow|master\.passwd|passwd|sudoers|security/opasswd)[-~]?(?:\.[a-z0-9]+)?(?:/|$)",
        r"/etc/sudoers\.d(?:/|$)",
        r"/system32/config/(?:sam|security|system)(?:/|$)",
        r"/ntds\.dit$",
        r"/var/db/dslocal(?:/|$)",
    ),
    "a private key": (
        r"/\.(?:ssh|gnupg)(?:/|$)",
        r"/etc/ssh/ssh_host_[a-z0-9]+_key$",
        r"/etc/ssl/private(?:/|$)",
        rf"/(?:[^/]*[^a-z0-9/])?id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:[_~-][^/]*|{_NOT_PUB})?$",
        r"/[^/]+\.(?:pem|key|p12|pfx|ppk|jks|keystore|kdbx?|p8|ovpn)$",
    ),
    "an environment file": (
        r"/\.env(?:rc)?(?:[._~-][^/]*)?(?:/|$)",
        rf"/[^/]+\.env{_STAGE}$",
    ),
    "a process's memory or a raw device": (
        r"/proc/(?:[^/]+/)+(?:environ|mem|fd|auxv)(?:/|$)",
        r"/proc/kcore$",
        r"/dev/(?:k?mem|port|[svx]?v?d[a-z]\d*|nvme[^/]*|disk/.*)$",
    ),
    "stored credentials": (
        r"/\.aws/(?:credentials|config|sso|cli)(?:/|$)",
        r"/\.(?:azure|oci|boto|s3cfg|vault-token)(?:/|$)",
        r"/(?:\.config|appdata/roaming)/(?:gcloud|gh/hosts\.yml|doctl|rclone|hub)(?:/|$)",
        r"/\.kube/(?:config|cache)(?:/|$)",
        r"/\.docker/config\.json$",
        r"/\.m2/settings[^/]*\.xml$",
        r"/\.(?:gem|cargo)/credentials(?:\.toml)?$",
        r"/\.terraform\.d/credentials[^/]*$",
        r"/\.(?:netrc|pgpass|npmrc|yarnrc\.yml|pypirc|git-credentials|my\.cnf|mylogin\.cnf|htpasswd)$",
        r"/\.(?:smbcredentials|dockercfg|databricks\.cfg|fetchmailrc|msmtprc|authinfo(?:\.gpg)?)$",
        r"/(?:_netrc|pgpass\.conf|application_default_credentials\.json|credentials\.db|kubeconfig)$",
        r"/(?:client_secret|service[_-]?account)[^/]*\.json$",
        r"/(?:terraform\.tfstate(?:\.backup)?|[^/]+\.tfvars|wp-config\.php|htpasswd)$",
        r"/(?:claude_desktop_config|mcp|mcp[_-]servers)\.json$",
        r"/run/secrets(?:/|$)",
        r"/etc/kubernetes/[a-z-]+\.conf$",
    ),
    "a keychain or a browser's passwords": (
        r"/library/keychains(?:/|$)",
        r"\.keychain(?:-db)?$",
        r"/\.local/share/keyrings(?:/|$)",
        r"/\.password-store(?:/|$)",
        r"/microsoft/(?:credentials|protect|vault)(?:/|$)",
        r"/[^/]+/(?:login data(?: for account)?|local state|web data)$",
        r"/(?:logins\.json|key[34]\.db|signons\.sqlite|cookies\.(?:sqlite|binarycookies))$",
        r"/(?:default|network|profile \d+)/cookies$",
    ),
    "a wallet": (
        r"/wallet\.dat$",
        r"/\.(?:bitcoin|ethereum|electrum|monero|solana|config/solana)(?:/|$)",
        r"/keystore/utc--",
    ),
    "a command history": (
        r"/\.(?:bash|zsh|sh|python|psql|mysql|sqlite|node_repl|rediscli)_history$",
        r"/fish_history$",
    ),
    "a file of secrets": (
        rf"/(?:[^/]*[._-])?{_WORDS}{_STAGE}\.{_DATA}$",
        rf"/(?:{_OWNER})?tokens?{_STAGE}\.{_DATA}$",
        rf"/\.(?:{_WORDS}|tokens?)(?:/|$)",
    ),
    "a cloud's credential service": (
        r"/(?:169\.254\.(?:169\.254|170\.2)|metadata\.goog(?:le\.internal)?|100\.100\.100\.200)(?::\d+)?(?:/|$)",
        r"/(?:0xa9fea9fe|2852039166|0251\.0376\.0251\.0376)(?::\d+)?(?:/|$)",
        r"/\[(?:fd00:ec2::254|::ffff:(?:169\.254\.169\.254|a9fe:a9fe))\]?",
    ),
}
_REASONS = tuple(_MATERIAL)
_SECRET = re.compile(
    "|".join(f"(?P<r{index}>{'|'.join(_MATERIAL[reason])})" for index, reason in enumerate(_REASONS))
)
_SAMPLE = re.compile(r"/\.env(?:rc)?\.(?:example|sample|template|dist|defaults|schema)$")
_PLAIN_NAME = re.compile(rf"/(?:{_WORDS}|tokens?|g?shadow)$")

# What a wildcard must not reach. Of the second group only the stem counts: '*.json' is no search for secrets.
_GLOB_TARGETS = (
    "etc/shadow", "etc/gshadow", "etc/sudoers", "proc/self/environ", "run/secrets", ".ssh", ".gnupg",
    "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "x.pem", "x.key", "x.p12", "x.pfx", ".env", ".env.local",
    "x.env", ".aws/credentials", ".netrc", ".pgpass", ".npmrc", ".pypirc", ".kube/config",
    ".docker/config.json", ".git-credentials",
)  # fmt: skip
_GLOB_STEMS = (
    "secrets.yaml", "secret.json", "passwords.txt", "password.txt", "credentials.json", "token.json",
    "wallet.dat", "logins.json", "key4.db", "mcp.json",
)  # fmt: skip
_MIN_LITERALS = 3
_MAX_EXPANSIONS = 64
_MAX_PARTS = 256
_MAX_PART = 255  # no file has a longer name
_STARS = re.compile(r"\*+")
_BRACES = re.compile(r"\{([^{}]*)\}")
_WILD = re.compile(r"\[[^\]]*\]|[*?]")


def names_secret(path: str, *, named_path: bool, protected: Sequence[str] = ()) -> str | None:
    """What sensitive thing a path names, in words, or None.

    `named_path` says that the text is known to be a local path, so that plain words such as 'secrets' count.
    """
    match = _SECRET.search(_SAMPLE.sub("", path))
    if match is not None:
        return _REASONS[int(str(match.lastgroup)[1:])]
    if named_path and _PLAIN_NAME.search(path):
        return "a file of secrets"
    if any(matches_glob(path, pattern) for pattern in protected):
        return "a path that this workspace protects"
    return None


def glob_reaches(path: str) -> str | None:
    """Whether a path with wildcards is aimed at sensitive material: enough of its name is spelled out."""
    if path.count("/") > _MAX_PARTS:
        return "a wildcard too long to inspect"
    for count, expanded in enumerate(_expansions(path)):
        if count >= _MAX_EXPANSIONS:
            return "too many paths at once to inspect"
        if _aims(expanded):
            return "sensitive files by a wildcard"
    return None


def _expansions(path: str) -> Iterator[str]:
    """Every alternative of `{a,b}`, innermost braces first."""
    pending = [path]
    while pending:
        current = pending.pop()
        braces = _BRACES.search(current)
        if braces is None:
            yield current
            continue
        before, after = current[: braces.start()], current[braces.end() :]
        pending.extend(before + choice + after for choice in braces[1].split(","))


def _aims(path: str) -> bool:
    if _SECRET.search(_SAMPLE.sub("", path)):
        return True
    parts = [part if len(part) <= _MAX_PART else "" for part in _STARS.sub("*", path).strip("/").split("/")]
    return any(_covers(parts, target.split("/"), stem=False) for target in _GLOB_TARGETS) or any(
        _covers(parts, [target], stem=True) for target in _GLOB_STEMS
    )


def _covers(parts: Sequence[str], target: Sequence[str], *, stem: bool) -> bool:
    for start in range(len(parts) - len(target) + 1):
        window = parts[start : start + len(target)]
        if not all(fnmatchcase(name, part) for name, part in zip(target, window, strict=True)):
            continue
        if _literals(window[0], stem=stem) >= min(_MIN_LITERALS, len(target[0]) - 1):
            return True
    return False


def _literals(part: str, *, stem: bool) -> int:
    spelled = part.rpartition(".")[0] or part if stem else part
    return len(_WILD.sub(lambda wild: "" if wild[0] in "*?" else "x", spelled))
