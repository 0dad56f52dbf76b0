"""Judges the definitions that servers offer: unchanged, changed, or suspicious.

A definition is pinned at first sight. A changed one is held back, with a readable difference, until a person
accepts it; so is a first one that hides characters or speaks to the model, unless the server is trusted, and
one that a known server adds later where some rule would let it run unasked.
Owns the judgement and its words; the store keeps the pins.
"""

import hashlib
import json
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import orjson

from steward.contract import linear_re as re
from steward.contract.differences import changed_lines
from steward.contract.pins import Pin

PINNED_KEYS = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
ADDED = "is new on a server that is known, and a rule would let it run without asking"
MOST_SHOWN = 8_000  # characters of a difference; nobody reads more, so more is never accepted
TOO_LONG = "changed by more than a person can read. Disconnect its server, or look for another one."
_ZERO_WIDTH_JOINERS = "\u200c\u200d"
_VARIATION_SELECTORS_SUPPLEMENT = range(0xE0100, 0xE01F0)

# Each names what it catches. They look for words that no description of a tool needs: orders about other
# tools, about what to hide, about the conversation itself.
_INSTRUCTIONS = {
    "tells the model to ignore its instructions": r"""
        \b(ignore|disregard|forget|override)\b .{0,30}
        \b(previous|prior|above|earlier|all\ other|system|your)\b .{0,20}
        \b(instructions?|prompts?|rules|guidelines)\b""",
    "tells the model to keep something from the user": r"""
        \b(do\ not|don't|never|without)\b .{0,20}
        \b(tell|mention|inform|reveal|show|notify|alert)(ing)?\b .{0,25} \b(user|human|person)\b""",
    "uses tags that imitate instructions": r"<\s*/?\s*(important|system|instructions?|critical)\s*>",
    "gives orders about other tools": r"""
        \b(before|after|whenever|instead\ of)\b .{0,20} \b(using|calling|invoking|running)\b .{0,10}
        \b(any|every|all|each)\b .{0,15} \btools?\b""",
    "asks for secrets on this machine": r"""
        (~/|/home/\S{1,255}/|\.)(ssh/(?!\S{0,255}\.pub\b)|aws/|gnupg/|netrc\b|kube/config)
        | \bid_(rsa|ed25519)\b(?!\.pub) | /etc/(passwd|shadow)\b""",
    "asks for the conversation": r"""
        \b(entire|full|whole|complete)\b .{0,15} \b(conversation|chat)\ (history|log)\b .{0,40}
        \b(as|into|in|to|parameter|argument|send|include|pass)\b""",
    "speaks of the model's system prompt": r"\b(your|reveal\ the|print\ the)\ system\ prompt\b",
}
_PATTERNS = tuple(
    (reason, re.compile(pattern, re.IGNORECASE | re.DOTALL | re.VERBOSE))
    for reason, pattern in _INSTRUCTIONS.items()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PinVerdict:
    """What became of one offered definition."""

    pin: Pin  # what the offered definition would be pinned as
    shown: Mapping[str, Any]  # the definition that may be shown and used
    blocked: str | None  # why nobody may call it
    flags: tuple[str, ...]
    is_new: bool
    was_nameless: bool = False  # pinned before names were kept
    acceptable: bool = True  # whether a person can be shown the whole of what they would accept


def digest_of(definition: Mapping[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(definition, option=orjson.OPT_SORT_KEYS)).hexdigest()


def pinned_part(tool: Mapping[str, Any]) -> dict[str, Any]:
    """What a person or a model relies on; the rest of a definition may change freely."""
    return {key: tool[key] for key in PINNED_KEYS if tool.get(key) is not None}


def judge(
    agent: str,
    tool: Mapping[str, Any],
    known: Pin | None,
    *,
    registered: str,
    trusted: bool,
    added_unasked: bool = False,
) -> PinVerdict:
    """`added_unasked`: a known server adds it, and some rule would let it run without a person."""
    definition = pinned_part(tool)
    digest = digest_of(definition)
    flags = suspicions(definition)
    doubts = (*(flags if not trusted else ()), *((ADDED,) if added_unasked else ()))
    held = bool(doubts)
    is_new = known is None
    pin = Pin(
        agent=agent,
        tool=str(tool["name"]),
        digest=digest,
        definition=definition,
        accepted=is_new and not held,
        registered=registered,
    )
    accept = f"Look at it, then accept it with `steward tools accept {registered}` ({digest[:12]})."
    told = partial(PinVerdict, flags=flags, was_nameless=known is not None and known.registered is None)
    if known is not None and known.accepted:
        if known.digest == digest:
            same = replace(known, registered=known.registered or registered)
            return told(pin=same, shown=definition, blocked=None, is_new=False)
        noted = f" Mind that it {', '.join(flags)}." if flags else ""
        changes = difference(known.definition, definition)
        if len(changes) > MOST_SHOWN:
            blocked = f"'{registered}' {TOO_LONG}"
            return told(pin=pin, shown=known.definition, blocked=blocked, is_new=False, acceptable=False)
        changed = f"'{registered}' changed since it was accepted.{noted}\n{changes}\n"
        return told(pin=pin, shown=known.definition, blocked=changed + accept, is_new=False)
    if known is not None or held:
        why = ", ".join(doubts) or "was not accepted when it was first seen"
        blocked = f"'{registered}' is held back: it {why}. {accept}"
        return told(pin=pin, shown=definition, blocked=blocked, is_new=is_new)
    return told(pin=pin, shown=definition, blocked=None, is_new=True)


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """What changed, as lines a person reads: `- before`, `+ after`, each under the key it belongs to."""
    lines: list[str] = []
    for key in PINNED_KEYS:
        before, after = _lines(old.get(key)), _lines(new.get(key))
        if before == after:
            continue
        lines.append(f"{key}:")
        lines.extend(f"  {line}" for line in changed_lines(before, after, around=1))
    return "\n".join(lines)


def _lines(value: Any) -> list[str]:
    if value is None:
        return []
    text = (
        value if isinstance(value, str) else json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
    )
    return reveal(text).splitlines()


def suspicions(definition: Mapping[str, Any]) -> tuple[str, ...]:
    """What a person should know before trusting these words."""
    found: list[str] = []
    texts = list(_texts(definition))
    if any(hidden_characters(text) for text in texts):
        found.append("hides characters in its words")
    joined = "\n".join(without_hidden(text) for text in texts)
    found.extend(reason for reason, pattern in _PATTERNS if pattern.search(joined))
    return tuple(found)


def _texts(value: Any) -> Iterator[str]:
    """Every piece of text, however deep: a model reads the schema's words as well."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            members = cast("Mapping[str, Any]", item)
            stack.extend(members.keys())
            stack.extend(members.values())
        elif isinstance(item, list):
            stack.extend(cast("list[Any]", item))


def hidden_characters(text: str) -> tuple[str, ...]:
    """Characters that a person cannot see and a model reads: zero-width, bidirectional, tags, controls."""
    if text.isascii() and text.isprintable():
        return ()
    return tuple(char for index, char in enumerate(text) if _is_hidden(char, text, index))


def _is_hidden(char: str, text: str, index: int) -> bool:
    if char in "\n\r\t" or (" " <= char <= "~"):
        return False
    if char in _ZERO_WIDTH_JOINERS:  # part of emoji and of several scripts; between Latin letters it hides
        around = text[index - 1 : index] + text[index + 1 : index + 2]
        return len(around) < 2 or around.isascii()
    category = unicodedata.category(char)
    return category in ("Cc", "Cf", "Co") or ord(char) in _VARIATION_SELECTORS_SUPPLEMENT


def without_hidden(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(char for index, char in enumerate(text) if not _is_hidden(char, text, index))


def reveal(text: str) -> str:
    """The text with what it hides written out."""
    if not hidden_characters(text):
        return text
    return "".join(
        f"<U+{ord(char):04X}>" if _is_hidden(char, text, index) else char for index, char in enumerate(text)
    )
