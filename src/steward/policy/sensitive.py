"""Whether arguments name sensitive material: keys, credentials, shadow files, environments.

Owns the walk through arguments and the ways a path can be disguised. What counts as sensitive is listed
in `material`. Pure: links are followed only through the `resolve` that the caller passes. Finding
something only ever raises a risk, so every doubt is a finding.
"""

import itertools
import re  # every call passes here, and these are one pass over the text each (scripts/check_patterns.py)
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from os import PathLike, fsdecode
from typing import Any, cast
from urllib.parse import unquote

from steward.contract import linear_re
from steward.policy.sensitive_paths import glob_reaches, names_secret

Resolve = Callable[[str], str]

MAX_DEPTH = 32
MAX_VALUES = 20_000
MAX_CHARACTERS = 1_000_000
MAX_PATH = 4_096
MAX_WILDCARDS = 256  # in one call; each is tried against all that a wildcard must not reach
_MAX_DECODES = 4

_PATH_KEY = re.compile(
    r"(?:^|[_-])(?:paths?|files?|file_?names?|file_?paths?|dirs?|directory|directories|folders?|uris?|urls?"
    r"|src|source|dst|dest|destination|target|cwd|root|location|attachments?|vault)(?:$|[_-])"
)
_PROSE_KEY = re.compile(
    r"(?:^|[_-])(?:query|queries|q|questions?|texts?|contents?|messages?|titles?|descriptions?|desc|body|prompts?"
    r"|tasks?|notes?|summary|facts?|subject|comments?|instructions?|topics?|reason|names?|labels?|utterance"
    r"|answers?|goals?|keywords?|search|context|observations?|thoughts?)(?:$|[_-])"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PATH_START = re.compile(
    r"(?:[~/\\]|\.{1,2}[/\\]|[A-Za-z]:[/\\]|\$\{?home|%userprofile%|file:)", re.IGNORECASE
)
_URL = linear_re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_PIECES = re.compile(r"(?:[\s\"'`,;|<>()\[\]{}=?&#]|:(?!//))+")
_QUOTING = re.compile(r"[\"'`\\^]")
_REPEATED = re.compile(r"[/\\](?:\.?[/\\])+")
_GLOB = re.compile(r"[*?\[{]")
_MORE_THAN_A_PATH = re.compile(r"[\s\"']")
_HARMLESS = re.compile(r"\A[A-Za-z0-9 ,_-]*+[.:!]?")
_SLASHES = str.maketrans("\u2044\u2215\u29f8\u2571\u2216\u29f5\\", "///////")
LOOK_ALIKES = str.maketrans(
    "\u0430\u0441\u0501\u0435\u04bb\u0456\u0458\u043a\u043c\u043d\u043e\u0440\u0455\u0442\u0443\u0445\u051d"
    "\u03b1\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u0131\u0261\u2010\u2011\u2012\u2013\u2014\u2212",
    "acdehijkmhopstyxw" + "aeikvoptux" + "ig" + "------",
)


_Text = tuple[str, str]  # a string from the arguments, and the key it stood under


def find_sensitive(
    parameters: object, *, resolve: Resolve | None = None, protected: Sequence[str] = ()
) -> tuple[str, ...]:
    """Why these arguments are sensitive, in plain words; empty when nothing is.

    `protected` adds path patterns of the workspace's own (`*` within a folder, `**` across).
    """
    found: dict[str, None] = {}
    wildcards = itertools.count(1)
    try:
        for text in _texts(parameters):
            for reason in _judge(text, resolve, protected, wildcards):
                found[reason] = None
    except _TooMuch as limit:
        found[str(limit)] = None
    return tuple(found)


class _TooMuch(Exception):  # noqa: N818 - a limit that was reached, caught above, not an error
    pass


def _texts(parameters: object) -> Iterator[_Text]:
    """Every string in the arguments, keys included, within the limits."""
    left_values, left_characters = MAX_VALUES, MAX_CHARACTERS
    stack: list[tuple[object, str, int]] = [(parameters, "", 0)]
    while stack:
        value, key, depth = stack.pop()
        left_values -= 1
        if left_values < 0 or depth > MAX_DEPTH:
            raise _TooMuch("The arguments are too large or too deeply nested to inspect.")
        if isinstance(value, str | bytes | PathLike):
            text = _decoded(cast("str | bytes | PathLike[str]", value))
            if len(text) <= MAX_PATH:
                left_characters -= len(text)
                if left_characters < 0:
                    raise _TooMuch("The arguments hold too much text to inspect.")
            yield text, key
        elif isinstance(value, Mapping):
            for name, item in cast("Mapping[object, object]", value).items():
                label = name if isinstance(name, str) else str(name)
                yield label, ""
                stack.append((item, _flat_key(label), depth + 1))
        elif isinstance(value, list | tuple | set | frozenset):
            stack.extend((item, key, depth + 1) for item in cast("Sequence[object]", value))
        elif not (value is None or isinstance(value, bool | int | float)):
            raise _TooMuch(f"A value of type {type(value).__name__} cannot be inspected.")


def _decoded(value: "str | bytes | PathLike[str]") -> str:
    try:
        return value if isinstance(value, str) else fsdecode(value)
    except Exception:  # noqa: BLE001 - a path object of the caller's may do anything
        raise _TooMuch("A path in the arguments cannot be read.") from None


@lru_cache(4096)
def _flat_key(key: str) -> str:
    return _CAMEL.sub("_", key[:128]).casefold()


@lru_cache(4096)
def _names_a_path(flat_key: str) -> bool:
    return _PATH_KEY.search(flat_key) is not None


@lru_cache(4096)
def _names_prose(flat_key: str) -> bool:
    return _PROSE_KEY.search(flat_key) is not None


def _judge(
    text: _Text, resolve: Resolve | None, protected: Sequence[str], wildcards: Iterator[int]
) -> Iterator[str]:
    value, key = text
    is_path = _names_a_path(key)
    if not is_path and _harmless(value):
        return
    if len(value) > MAX_PATH:
        if is_path:
            yield "A path in the arguments is too long to inspect."
            return
        value = _REPEATED.sub("/", value)
        if len(value) > MAX_PATH:
            return  # content, not a path
    prose = not is_path and _names_prose(key)
    for candidate in dict.fromkeys(_candidates(value, prose=prose)):
        named_path = is_path and candidate == value.strip()
        if not named_path and _harmless(candidate):
            continue
        wild = _GLOB.search(candidate) and not _MORE_THAN_A_PATH.search(candidate)
        if wild and next(wildcards) > MAX_WILDCARDS:
            raise _TooMuch("The arguments hold too many wildcards to inspect.")
        yield from _judge_path(candidate, named_path=named_path, protected=protected)
        if resolve is not None:
            yield from _judge_resolved(candidate, named_path, resolve, protected)


def _harmless(text: str) -> bool:
    """Plain words, which name nothing sensitive unless they are known to be a path."""
    return _HARMLESS.fullmatch(text) is not None and "id_" not in text


def _candidates(value: str, *, prose: bool) -> Iterator[str]:
    """The parts of a string that may be paths: all of it, and its pieces unless it is prose."""
    stripped = value.strip()
    spaced = len(stripped.split(None, 1)) > 1
    if prose and spaced:
        if _PATH_START.match(stripped) and "\n" not in stripped:
            yield stripped
        return
    yield stripped
    if spaced:
        yield from stripped.split()
    pieces = _PIECES.split(stripped)
    if len(pieces) > 1:
        yield from filter(None, pieces)
    unquoted = _QUOTING.sub("", stripped)
    if unquoted != stripped:
        yield from filter(None, _PIECES.split(unquoted))


def _judge_path(candidate: str, *, named_path: bool, protected: Sequence[str]) -> Iterator[str]:
    named_path = _local_path(candidate) is not None and (named_path or bool(_PATH_START.match(candidate)))
    for spelling in _spellings(candidate):
        if spelling is None:
            yield "A path in the arguments is encoded too often to inspect."
            continue
        if "\0" in spelling and (named_path or "/" in spelling):
            yield "A path in the arguments holds a NUL character."
        path = _lexical(spelling)
        secret = names_secret(path, named_path=named_path, protected=protected)
        if secret is None and _GLOB.search(path) and not _MORE_THAN_A_PATH.search(spelling):
            secret = glob_reaches(path)
        if secret is not None:
            yield f"The arguments name {secret}."


def _judge_resolved(
    candidate: str, named_path: bool, resolve: Resolve, protected: Sequence[str]
) -> Iterator[str]:
    path = _local_path(candidate)
    if path is None or not (named_path or _PATH_START.match(path) or "/" in path):
        return
    try:
        target: Any = resolve(path)
        if not isinstance(target, str):
            raise TypeError
    except Exception:  # noqa: BLE001 - a resolver that fails must not open the door
        yield "A path in the arguments cannot be followed to its target."
        return
    if target != candidate:
        yield from _judge_path(target, named_path=True, protected=protected)


def _local_path(candidate: str) -> str | None:
    """The path on this machine that a candidate stands for, if it is not a web address."""
    if candidate.casefold().startswith("file:"):
        rest = candidate[5:]
        return unquote(rest.removeprefix("//").removeprefix("localhost"))
    return None if _URL.match(candidate) else candidate


def _spellings(candidate: str) -> Iterator[str | None]:
    """The candidate as written and as every decoder on the way may read it; None when they never end."""
    current = candidate
    for _ in range(_MAX_DECODES):
        yield _plain(current)
        decoded = unquote(current)
        if decoded == current:
            return
        current = decoded
    yield None


def _plain(text: str) -> str:
    """Lower case with slashes, without marks, invisible characters and letters that only look Latin."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text.casefold())
        text = "".join(c for c in text if unicodedata.category(c) not in {"Mn", "Cf"}).translate(LOOK_ALIKES)
    return text.translate(_SLASHES).casefold()


def plain_path(path: str) -> str:
    """A path as it is compared: lower case, '/' between parts and before the first, no detours."""
    return _lexical(_plain(path))


def _lexical(path: str) -> str:
    """The path with '.', '..', doubled slashes, trailing dots and blanks taken out, led by '/'."""
    parts: list[str] = []
    for raw in path.split("/"):
        part = raw.split("\0", 1)[0].strip()
        if part == "..":
            del parts[-1:]
            continue
        part = part.split(":$", 1)[0].rstrip(". :")
        if part:
            parts.append(part)
    return "/" + "/".join(parts)
