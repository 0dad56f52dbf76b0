"""Everyday to-do speech, generated: templates for each intent, and speech about everything else.

The templates are in `intents/`, one file an intent, one template a line: `{slot}` takes a line of that slot
in `slots.txt`, `(a|b|)` one of its options. All of it was written for Steward; nothing comes from a data set.
"""

import random
import re
from pathlib import Path

_GROUP = re.compile(r"\(([^()]*)\)")
_SLOT = re.compile(r"\{(\w+)\}")

_FOLDER = Path(__file__).parent / "intents"
SHARES = {
    "add": 2600,
    "list": 2000,
    "complete": 1600,
    "delete": 1700,
    "update": 1700,
    "other": 3000,
    "ask": 500,
}


def _read_slots() -> dict[str, list[str]]:
    slots: dict[str, list[str]] = {}
    name = ""
    for line in (_FOLDER / "slots.txt").read_text().splitlines():
        if line.startswith("["):
            name = line.strip("[]")
        elif line:
            slots.setdefault(name, []).append(line)
    return slots


_SLOTS = _read_slots()


def fill(template: str, rng: random.Random) -> str:
    text = _GROUP.sub(lambda m: rng.choice(m.group(1).split("|")), template)
    text = _SLOT.sub(lambda m: rng.choice(_SLOTS[m.group(1)]), text)
    return " ".join(text.split())


def _typo(text: str, rng: random.Random) -> str:
    """Swap, drop or double one letter of a longer word."""
    words = text.split()
    long = [k for k, word in enumerate(words) if len(word) > 3 and word.isalpha()]
    if not long:
        return text
    k = rng.choice(long)
    word = words[k]
    at = rng.randrange(1, len(word) - 1)
    kind = rng.randrange(3)
    if kind == 0:
        word = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    elif kind == 1:
        word = word[:at] + word[at + 1 :]
    else:
        word = word[:at] + word[at] + word[at:]
    words[k] = word
    return " ".join(words)


def _dress(text: str, intent: str, rng: random.Random) -> str:
    """Politeness, thanks, capitals, full stops and the odd typo, as people write."""
    if intent not in ("ask", "complete") and rng.random() < 0.2:
        text = f"{rng.choice(_SLOTS['polite'])} {text}"
    if intent != "ask" and rng.random() < 0.12:
        text = f"{text} {rng.choice(_SLOTS['thanks'])}"
    if rng.random() < 0.3:
        text = text[0].upper() + text[1:]
    if rng.random() < 0.15:
        text += rng.choice(".!?") if intent == "list" else rng.choice(".!")
    return _typo(text, rng) if rng.random() < 0.07 else text


def generate(seed: int = 7) -> list[tuple[str, str]]:
    """Rows of (utterance, intent): every template several times, without doubles."""
    rng = random.Random(seed)
    rows: dict[str, str] = {}
    for intent, share in SHARES.items():
        templates = (_FOLDER / f"{intent}.txt").read_text().splitlines()
        for n in range(share):
            text = _dress(fill(templates[n % len(templates)], rng), intent, rng)
            rows.setdefault(text, intent)
    return list(rows.items())
