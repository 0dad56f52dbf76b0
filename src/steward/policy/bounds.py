"""Which files nobody is given: Steward's own home, for every path in the arguments of every tool.

Owns finding paths that lead there, however they are spelled, and the rule for one file of many. Pure: links
are followed only through the `resolve` that the caller passes. What is merely sensitive is `sensitive`'s.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast
from urllib.parse import unquote, urlsplit

from steward.policy.sensitive import Resolve, find_sensitive, plain_path

MAX_DEPTH = 32
MAX_VALUES = 20_000
MAX_PATH = 4_096
_NAMED = "The arguments name "
_PATH_KEY = re.compile(
    r"(?:^|[_-])(?:paths?|files?|file_?names?|dirs?|directory|directories|folders?|uris?|urls?|src|source"
    r"|dst|dest|destination|target|cwd|root|location|attachments?|vault)(?:$|[_-])"
)
_WORDS_KEY = re.compile(
    r"(?:^|[_-])(?:query|queries|q|questions?|texts?|contents?|messages?|titles?|descriptions?|body|prompts?"
    r"|tasks?|notes?|summary|facts?|subject|comments?|instructions?|code|commands?|cmd|scripts?)(?:$|[_-])"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PATH_START = re.compile(r"[~/\\]|\.{1,2}[/\\]|[A-Za-z]:[/\\]|file:", re.IGNORECASE)
_WEB = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,31}://")


@dataclass(frozen=True, slots=True)
class Bounds:
    """`closed` folders and those inside them that are open after all, as they really are on disk."""

    closed: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()

    def hold(self, path: str) -> bool:
        """Whether this path, links already followed, may be handed out."""
        plain = plain_path(path)
        if any(_inside(plain, plain_path(folder)) for folder in self.opened):
            return True
        return not any(_inside(plain, plain_path(folder)) for folder in self.closed)


NO_BOUNDS = Bounds()


def out_of_bounds(arguments: object, bounds: Bounds, *, resolve: Resolve | None = None) -> str | None:
    """Why these arguments lead where nobody may go, in plain words; None when they do not."""
    if not bounds.closed:
        return None
    for text, key in _texts(arguments):
        for path in _spellings(text, key):
            real = resolve(path) if resolve is not None else path
            if not (bounds.hold(path) and bounds.hold(real)):
                return "It leads into STEWARD_HOME, which belongs to Steward itself and is open to no tool."
    return None


def why_withheld(path: str, *, resolve: Resolve | None = None, protected: Sequence[str] = ()) -> str | None:
    """What a file is that is taken only when a person names it by itself; None for any other."""
    found = find_sensitive({"path": path}, resolve=resolve, protected=protected)
    return found[0].removeprefix(_NAMED).rstrip(".") if found else None


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _texts(arguments: object) -> Iterator[tuple[str, str]]:
    """Strings and the keys they stand under. What is too much to look at asks anyway (`sensitive`)."""
    stack: list[tuple[object, str, int]] = [(arguments, "", 0)]
    for _ in range(MAX_VALUES):
        if not stack:
            return
        value, key, depth = stack.pop()
        if isinstance(value, str):
            if len(value) <= MAX_PATH:
                yield value, key
        elif depth >= MAX_DEPTH:
            continue
        elif isinstance(value, Mapping):
            named = cast("Mapping[object, object]", value).items()
            stack.extend(
                (item, _CAMEL.sub("_", str(name)[:128]).casefold(), depth + 1) for name, item in named
            )
        elif isinstance(value, list | tuple):
            stack.extend((item, key, depth + 1) for item in cast("Sequence[object]", value))


def _spellings(text: str, key: str) -> Iterator[str]:
    """The path on this machine that a string stands for, written and decoded; nothing for other strings."""
    path = text.strip()
    named = _PATH_KEY.search(key) is not None
    if not named and (_WORDS_KEY.search(key) or not _PATH_START.match(path)):
        return
    if path.casefold().startswith("file:"):
        path = urlsplit(path).path
    elif _WEB.match(path):
        return
    if path and "\0" not in path:
        yield path
        decoded = unquote(path)
        if decoded != path:
            yield decoded
