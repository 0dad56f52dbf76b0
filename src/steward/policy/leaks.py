"""Nothing private leaves unasked: which words of an outgoing call come from what a run read in private.

Owns what is private, what is somebody else's text, which calls go out, and how words are compared. Pure: the
run's record is the door's. A text that others wrote may tell a model what to send, so from then on a call
that goes out with words of memory, documents or files asks first. What the person typed may always be sent.
"""

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import cast
from urllib.parse import unquote

from steward.contract.runs import RunRecord
from steward.contract.stems import english_stem
from steward.contract.tool import Effect, Origin, ToolSpec
from steward.policy.common import COMMON_WORDS
from steward.policy.sensitive import LOOK_ALIKES

# Categories of our own whose answers hold nothing that the person keeps here. Any other is private.
NOBODYS = frozenset(("web", "calculation", "time", "agents", "skills", "conversation"))
WRITTEN_BY_OTHERS = frozenset(("web", "knowledge", "files", "resources"))
GOING_OUT = frozenset(("web", "resources"))
SAID_LATER = frozenset(("schedules",))  # what these are told, an agent hears as the person's own words
PUBLIC = frozenset(("list_resources", "list_prompts"))  # what a server says that it has
SEARCHES = frozenset(("web_search",))

MOST_SHOWN = 8
MOST_VALUES = 20_000
MOST_CHARACTERS = 200_000
MOST_LAYERS = 3  # one disguise within another
SHORTEST_WORD, SHORTEST_NUMBER, SHORTEST_MIXED = 4, 5, 4
SHORTEST_HIDDEN = 6  # a word that is looked for inside others
LONGEST_PLAIN = 24  # a longer run of letters and digits that nobody wrote may be a text in disguise

_COMMON_STEMS = frozenset(map(english_stem, COMMON_WORDS))
_WORD = re.compile(r"[^\W_]+")
_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,6}")
_ESCAPED = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2}))")
_NESTED = re.compile(r"(%)(?:25)+|(&)(?:amp;)+|(\\)\\+")  # an escape of an escape, however deep
_ADDRESS = re.compile(r"https?://[^\s\"'<>)\]}]{1,2000}")
_ABOUT = re.compile(
    r"(?:^|_)(?:id|ids|at|timestamp|date|score|relevance|status|kind|type|user|source|risk|sha256)$"
)


def goes_out(spec: ToolSpec) -> bool:
    """Whether what this tool is told leaves Steward, to the web or to a server that somebody else wrote; or
    comes back as words of the person, which may."""
    ours = spec.origin is Origin.BUILTIN and spec.category in GOING_OUT | SAID_LATER
    return spec.origin is Origin.SERVER or ours


def is_private(spec: ToolSpec) -> bool:
    """Whether its answers are the person's own: memory, documents, files, the record; a closed server's."""
    if spec.origin is Origin.SERVER:
        return spec.hints.open_world is False
    return spec.origin is Origin.BUILTIN and spec.category not in NOBODYS and spec.name not in PUBLIC


def is_untrusted(spec: ToolSpec) -> bool:
    """Whether its answers hold text that others wrote."""
    return spec.origin is Origin.SERVER or (
        spec.origin is Origin.BUILTIN and spec.category in WRITTEN_BY_OTHERS
    )


def note_answer(run: RunRecord, spec: ToolSpec, answer: object, *, given: object = None) -> None:
    """Take an answer that was read into a run's record. `given`: what the tool was told."""
    private, untrusted = is_private(spec), is_untrusted(spec)
    if not private and not untrusted:
        return
    texts = texts_of(answer, but=_ABOUT if spec.origin is Origin.BUILTIN else None)
    text = "\n".join(texts)
    if private:
        # What a change only says back was known to whoever made it.
        echo = frozenset[str]() if spec.effect is Effect.READS else words_of("\n".join(texts_of(given)))
        run.read_private(words_of(text) - echo, place_of(spec))
        run.full |= len(texts) >= MOST_VALUES
    if untrusted:
        run.read_untrusted(text, spec.name)
    if spec.origin is Origin.BUILTIN and spec.name in SEARCHES:
        run.addresses.update(_ADDRESS.findall(text))


def place_of(spec: ToolSpec) -> str:
    """Where words of a tool come from: one of our own by its name, a server as a whole."""
    server, separator, _ = spec.name.partition("__")
    return server if spec.origin is Origin.SERVER and separator else spec.name


def would_carry(spec: ToolSpec, arguments: Mapping[str, object], run: RunRecord | None) -> str | None:
    """Which private words this call would send out, in plain words; None when it sends none."""
    if run is None or run.untrusted is None or not goes_out(spec):
        return None
    if run.full:
        return f"It sends words out, and more was read since '{run.untrusted}' than can be compared with it."
    later = spec.origin is Origin.BUILTIN and spec.category in SAID_LATER
    texts = texts_of(arguments, but=_ABOUT if later else None)
    text = "\n".join((*texts, *(_keys_of(arguments) - _keys_of(spec.input_schema))))
    if run.private and (len(text) > MOST_CHARACTERS or len(texts) >= MOST_VALUES):
        return "It sends out more text than can be compared with what was read."
    if not run.private or text.strip() in run.addresses:
        return None
    does = "have an agent told, as if you had said it," if later else "send out"
    words = _carried(text, run, place_of(spec))
    return _words_shown(words, run, does) or _opaque_shown(_opaque(text, run), run, does)


def _words_shown(words: Sequence[str], run: RunRecord, does: str) -> str | None:
    if not words:
        return None
    shown = ", ".join(f'"{word}"' for word in words[:MOST_SHOWN])
    more = f" and {len(words) - MOST_SHOWN} more" if len(words) > MOST_SHOWN else ""
    sources = sorted({source for word in words for source in run.private[word]})
    return (
        f"It would {does} {shown}{more}, read in private by {', '.join(sources)}, "
        f"after '{run.untrusted}' brought in text that others wrote."
    )


def _opaque_shown(opaque: str | None, run: RunRecord, does: str) -> str | None:
    if opaque is None:
        return None
    return (
        f'It would {does} "{opaque[:40]}", which nobody wrote and nobody can read, after private text '
        f"was read and '{run.untrusted}' brought in text that others wrote."
    )


def words_of(text: str) -> frozenset[str]:
    """The words of a text that say something."""
    return frozenset(word for word in set(_WORD.findall(_plain(text))) if _says_something(word))


def texts_of(value: object, *, but: re.Pattern[str] | None = None) -> list[str]:
    """Texts and numbers in a value, MOST_VALUES at most; without what stands under keys like `but`."""
    found: list[str] = []
    stack: list[object] = [value]
    while stack and len(found) < MOST_VALUES:
        current = stack.pop()
        if isinstance(current, str):
            found.append(current)
        elif isinstance(current, Mapping):
            items = cast("Mapping[object, object]", current).items()
            stack.extend(item for key, item in items if but is None or not but.search(str(key)))
        elif isinstance(current, list | tuple):
            stack.extend(cast("Sequence[object]", current))
        elif isinstance(current, int | float) and not isinstance(current, bool):
            found.append(str(current))
    return found


def _keys_of(value: object) -> set[str]:
    """The names under which things stand in it, at any depth."""
    found: set[str] = set()
    stack = [value]
    while stack:
        current = stack.pop()
        if isinstance(current, Mapping):
            items = cast("Mapping[object, object]", current)
            found.update(map(str, items))
            stack.extend(items.values())
        elif isinstance(current, list | tuple):
            stack.extend(cast("Sequence[object]", current))
    return found


def _carried(text: str, run: RunRecord, place: str) -> list[str]:
    """Private words in the text, as they stand or in a disguise, but for what the person typed."""
    typed = {english_stem(word) for word in _WORD.findall(_plain(run.said))}
    typed |= {english_stem(word) for word in _WORD.findall(_plain(run.said_before)) if not _has_digit(word)}
    by_stem: dict[str, str] = {}
    for word in run.from_elsewhere(place):
        if (stem := english_stem(word)) not in typed:
            by_stem[stem] = word
    found: set[str] = set()
    for reading in _readings(text):
        words = [word for word in _WORD.findall(_plain(reading)) if english_stem(word) not in typed]
        found.update(by_stem[stem] for word in words if (stem := english_stem(word)) in by_stem)
        joined = "".join(words)
        found.update(word for word in by_stem.values() if len(word) >= SHORTEST_HIDDEN and word in joined)
    return sorted(found)


def _readings(text: str) -> Iterator[str]:
    """The text as written and as somebody at the other end may read it."""
    for _ in range(MOST_LAYERS):
        plain = _unescaped(text)
        yield plain
        yield plain[::-1]
        yield codecs.encode(plain, "rot13")
        text = "\n".join({part for token in _ENCODED.findall(plain) for part in _decoded(token)})
        if not text:
            return


def _unescaped(text: str) -> str:
    """With percent signs, entities and escapes read, also where one is written in another."""
    for _ in range(MOST_LAYERS):
        plain = _one_layer_less(text)
        if plain == text:
            break
        text = plain
    return text


def _one_layer_less(text: str) -> str:
    plain = html.unescape(unquote(_NESTED.sub(r"\1\2\3", text)))
    return _ESCAPED.sub(lambda escape: chr(int(escape[1] or escape[2], 16)), plain)


def _decoded(token: str) -> Iterator[str]:
    bare = token.rstrip("=")
    padded = bare + "=" * (-len(bare) % 4)
    tries = (
        lambda: base64.b64decode(padded, validate=True),
        lambda: base64.urlsafe_b64decode(padded),
        lambda: bytes.fromhex(bare),
        lambda: base64.b32decode(bare.upper() + "=" * (-len(bare) % 8)),
    )
    for attempt in tries:
        try:
            yield attempt().decode()
        except (ValueError, binascii.Error):
            continue


def _opaque(text: str, run: RunRecord) -> str | None:
    """A long run of letters and digits that nobody typed and that was not read, or escapes without end."""
    plain = _unescaped(text)
    if _one_layer_less(plain) != plain:
        return text
    for token in _ENCODED.findall(text):
        mixed = _has_digit(token) or (token != token.lower() and token != token.upper())
        if len(token) >= LONGEST_PLAIN and mixed and token not in run.said and token not in run.seen:
            return token
    return None


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKD", text).casefold()
    return (
        folded
        if folded.isascii()
        else "".join(c for c in folded if unicodedata.category(c) not in ("Mn", "Cf")).translate(LOOK_ALIKES)
    )


def _says_something(word: str) -> bool:
    if word.isdigit():
        return len(word) >= SHORTEST_NUMBER
    if _has_digit(word):
        return len(word) >= SHORTEST_MIXED
    return len(word) >= SHORTEST_WORD and english_stem(word) not in _COMMON_STEMS


def _has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)
