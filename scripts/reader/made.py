"""Makes teaching rows that nobody wrote: tools full of numbers, and rows whose values were multiplied.

What people rarely write and tools often ask for: pairs of numbers, lists in brackets, measures with units,
switches, one wish repeated with other values, and several wishes in one message. A row is `{request, tools,
calls, spans, source}`; a span's key is the number of its call and the path of its slot.
"""

import copy
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Row = dict[str, Any]
WORDS = json.loads((Path(__file__).parent / "made.json").read_text())
MEASURES: list[tuple[str, list[str]]] = [(name, units) for name, units in WORDS["measures"]]
THINGS, VERBS, PAIRS = WORDS["things"], WORDS["verbs"], WORDS["pairs"]
PAIR_WORDINGS, LISTS, SWITCHES = WORDS["pair_wordings"], WORDS["lists"], WORDS["switches"]
SWITCHED, NUMBERS, JOINTS = WORDS["switched"], WORDS["numbers"], WORDS["joints"]
TEXTS: dict[str, list[str]] = WORDS["texts"]
WORDINGS: dict[str, list[str]] = WORDS["text_wordings"]
COUNTED = set(WORDS["counted"])
SPELT = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "twenty"]


class Sentence:
    """A request under construction, with the places of its values."""

    def __init__(self) -> None:
        self.text = ""
        self.spans: dict[str, list[list[int]]] = {}

    def say(self, words: str) -> None:
        self.text += words

    def value(self, words: str, *keys: str) -> None:
        for key in keys:
            self.spans.setdefault(key, []).append([len(self.text), len(self.text) + len(words)])
        self.text += words

    def listed(self, values: list[str], key: str, rng: random.Random) -> None:
        style = rng.choice(["brackets", "commas", "and", "and", "oxford"])
        quote = rng.choice(["", "", "'", '"']) if style == "brackets" and not values[0][0].isdigit() else ""
        self.say("[" if style == "brackets" else "")
        for place, value in enumerate(values):
            last = place == len(values) - 1
            if place:
                plain = style in ("brackets", "commas") or not last
                self.say(", " if plain else ", and " if style == "oxford" else " and ")
            self.say(quote)
            self.value(value, key)
            self.say(quote)
        self.say("]" if style == "brackets" else "")


def spelt_number(rng: random.Random, kind: str | None = None) -> tuple[str, str]:
    """A number as somebody writes it, and its type."""
    kind = kind or rng.choice(["whole", "whole", "whole", "decimal", "big", "word"])
    if kind == "whole":
        return str(rng.randint(1, rng.choice([12, 100, 1000]))), "integer"
    if kind == "decimal":
        return str(round(rng.uniform(0, rng.choice([1, 10, 100])), rng.choice([1, 2, 3]))), "number"
    if kind == "big":
        thousands = rng.randint(10, 900)
        written = [f"{thousands * 1000:,}", str(thousands * 100), f"{rng.randint(1, 9)} million"]
        return rng.choice(written), "integer"
    return rng.choice(SPELT), "integer"


def slot_name(rng: random.Random, words: str) -> str:
    parts, style = words.split(), rng.random()
    if style < 0.75:
        return "_".join(parts)
    if style < 0.9:
        return parts[0] + "".join(part.capitalize() for part in parts[1:])
    return "_".join(parts) + rng.choice(["_value", "", "_in"])


def tool(name: str, about: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required}
    return {"name": name, "description": about, "inputSchema": schema}


class NumberTool:
    """A made-up tool that calculates or looks something up, and one request for it."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.thing, self.verb = rng.choice(THINGS), rng.choice(VERBS)
        self.sentence = Sentence()
        self.properties: dict[str, Any] = {}
        self.required: list[str] = []
        self.arguments: dict[str, Any] = {}

    def row(self) -> Row:
        rng, say = self.rng, self.sentence.say
        polite = ["", "", "Can you ", "Please ", "I need to ", "I want to ", "Could you ", "What if I "]
        say(f"{rng.choice(polite)}{self.verb} the {self.thing}")
        for place in range(rng.choice([1, 2, 2, 2, 3, 3, 4])):
            kinds: list[Callable[[int], None]] = [
                self.measure,
                self.pair,
                self.numbers,
                self.text,
                self.texts,
            ]
            rng.choices(kinds, [50, 16, 12, 17, 5])[0](place)
        say(rng.choice([".", "?", "", ""]))
        name = f"{self.verb} {self.thing}".replace(" ", "_")
        about = rng.choice(
            [f"{self.verb.capitalize()} the {self.thing}.", f"This will {self.verb} the {self.thing}"]
        )
        other, verb = rng.choice(THINGS), rng.choice(VERBS)
        rivals = []
        if other != self.thing:
            few = {
                slot_name(rng, each): {"type": "number"}
                for each, _ in rng.sample(MEASURES, rng.choice([1, 2, 3]))
            }
            rivals = [
                tool(f"{verb}_{other}".replace(" ", "_"), f"{verb.capitalize()} the {other}", few, list(few))
            ]
        return {
            "request": self.sentence.text,
            "tools": [tool(name, about, self.properties, self.required), *rivals],
            "calls": [{"name": name, "arguments": self.arguments}],
            "spans": self.sentence.spans,
            "source": "made",
        }

    def _named(self, words: str) -> str | None:
        name = slot_name(self.rng, words)
        return None if name in self.properties else name

    def _declare(self, name: str, schema: dict[str, Any]) -> bool:
        """Whether the request names it: what is not required often stays unsaid."""
        needed = self.rng.random() < 0.75
        self.properties[name] = schema
        if needed:
            self.required.append(name)
        return needed or self.rng.random() < 0.5

    def _lead(self, place: int, first: list[str], later: list[str]) -> None:
        self.sentence.say(self.rng.choice(later if place else first))

    def measure(self, place: int) -> None:
        rng = self.rng
        words, units = rng.choice(MEASURES)
        name = self._named(words)
        if name is None:
            return
        written, kind = spelt_number(rng, rng.choice(["whole", "whole", "decimal", "big", "word"]))
        about = [
            f"The {words}",
            f"{words} in {units[0]}" if units[0] else words,
            f"The {words} of the {self.thing}",
        ]
        kind = "number" if rng.random() < 0.25 else kind
        if not self._declare(name, {"type": kind, "description": rng.choice(about)}):
            return
        unit = rng.choice(units)
        after = (unit if unit in ("%", "°C") else f" {unit}") if unit else ""
        wordings = [
            f"a {words} of {{v}}{after}",
            f"{words} {{v}}{after}",
            f"{words} of {{v}}{after}",
            f"{words} = {{v}}",
            f"the {words} is {{v}}{after}",
            f"{words}: {{v}}{after}",
            f"{{v}}{after} {words}",
        ]
        wordings += [f"{{v}}{after}"] * 3 if unit else []
        if words in COUNTED:
            wordings = [f"{{v}} {words}", f"for {{v}} {words}"]
        if words.startswith("number of "):
            wordings = [f"{{v}} {words[10:]}", f"for {{v}} {words[10:]}"]
        self._lead(place, [" with ", " given ", " for "], [", ", " and ", ", and ", " with "])
        before, _, rest = rng.choice(wordings).partition("{v}")
        self.sentence.say(before)
        self.sentence.value(written, f"0.{name}")
        unit_name = f"{name}_unit" if rng.random() < 0.5 else "unit"
        if unit and unit in rest and unit_name not in self.properties and rng.random() < 0.25:
            left, _, right = rest.partition(unit)
            self.sentence.say(left)
            self.sentence.value(unit, f"0.{unit_name}")
            self.sentence.say(right)
            self.arguments[unit_name] = unit
            self.properties[unit_name] = {"type": "string", "description": f"Unit of the {words}"}
        else:
            self.sentence.say(rest)
        self.arguments[name] = written

    def pair(self, place: int) -> None:
        rng = self.rng
        both = rng.choice(PAIRS)
        names = [slot_name(rng, each) for each in both]
        kind = rng.choice(["whole", "whole", "decimal"])
        (one, typed), (two, _) = spelt_number(rng, kind), spelt_number(rng, kind)
        if one == two or any(name in self.properties for name in names):
            return
        for name, words, nth in zip(names, both, ("first", "second"), strict=True):
            about = rng.choice([f"The {words}", f"{words} value", f"The {nth} value", ""])
            self.properties[name] = {"type": typed, "description": about}
        self.required += names
        wording = rng.choice(PAIR_WORDINGS)
        if rng.random() < 0.3:
            wording = f"{both[0]} {{0}} and {both[1]} {{1}}"
        elif rng.random() < 0.15:
            wording = f"{both[1]} {{1}} and {both[0]} {{0}}"
        self._lead(place, [" for ", " of ", " with ", ": "], [" and ", ", ", " with "])
        for piece in re.split(r"(\{\d\})", wording):
            if piece in ("{0}", "{1}"):
                self.sentence.value((one, two)[int(piece[1])], f"0.{names[int(piece[1])]}")
            else:
                self.sentence.say(piece)
        self.arguments |= dict(zip(names, (one, two), strict=True))

    def numbers(self, _: int) -> None:
        rng = self.rng
        words = rng.choice(LISTS)
        name = self._named(words)
        if name is None:
            return
        kind = rng.choice(["whole", "whole", "decimal"])
        values = [spelt_number(rng, kind)[0] for _ in range(rng.choice([2, 3, 3, 4, 5, 6]))]
        item = {"type": "integer" if kind == "whole" else "number"}
        about = rng.choice([f"The {words}", f"List of {words}", "An array of numbers"])
        if not self._declare(name, {"type": "array", "items": item, "description": about}):
            return
        self.arguments[name] = values
        if len(values) == 2 and rng.random() < 0.6:
            ways = [
                (" from ", " to ", ""),
                (" between ", " and ", ""),
                (" at (", ", ", ")"),
                (" in ", " - ", ""),
            ]
            before, between, after = rng.choice(ways)
            self.sentence.say(before)
            self.sentence.value(values[0], f"0.{name}")
            self.sentence.say(between)
            self.sentence.value(values[1], f"0.{name}")
            self.sentence.say(after)
            return
        leads = [
            " of ",
            " for ",
            f" with {words} ",
            f" for the {words} ",
            ": ",
            f" of the following {words}: ",
        ]
        self.sentence.say(rng.choice(leads))
        self.sentence.listed(values, f"0.{name}", rng)

    def text(self, place: int) -> None:
        self._text(place, several=False)

    def texts(self, place: int) -> None:
        self._text(place, several=True)

    def _text(self, _: int, *, several: bool) -> None:
        rng = self.rng
        words = rng.choice(list(TEXTS))
        name = self._named(words)
        if name is None:
            return
        about = rng.choice(
            [f"The {words}", f"Name of the {words}", f"{words} to use", f"{words} of the {self.thing}"]
        )
        schema: dict[str, Any] = {"type": "string", "description": about}
        if several:
            schema = {"type": "array", "items": {"type": "string"}, "description": f"List of {words} names"}
        if not self._declare(name, schema):
            return
        wordings = [*WORDINGS.get(words, ["for {v}", "with {v}"]), f"{words} {{v}}"]
        before, _, after = rng.choice(wordings).partition("{v}")
        self.sentence.say(f" {before}")
        if several:
            values = rng.sample(TEXTS[words], min(len(TEXTS[words]), rng.choice([1, 2, 3, 4])))
            self.sentence.listed(values, f"0.{name}", rng)
            self.arguments[name] = values
        else:
            value = rng.choice(TEXTS[words])
            self.sentence.value(value, f"0.{name}")
            self.arguments[name] = value
        self.sentence.say(after)


def repeated(rng: random.Random) -> Row | None:
    """One made-up tool asked for several times, some values shared: 'with 1, then with 3, all in Rome'."""
    thing, verb, count = rng.choice(THINGS), rng.choice(VERBS), rng.choice([2, 2, 2, 3, 3, 4])
    slots: list[tuple[str, str, list[str], bool]] = []
    properties: dict[str, Any] = {}
    for _ in range(rng.choice([1, 2, 2, 3])):
        if rng.random() < 0.55:
            words, units = rng.choice(MEASURES)
            unit = rng.choice(units)
            after = (unit if unit in ("%", "°C") else f" {unit}") if unit else ""
            wording = rng.choice(
                [
                    f"a {words} of {{v}}{after}",
                    f"{words} {{v}}{after}",
                    f"{{v}}{after}" if unit else f"{words} {{v}}",
                ]
            )
            kind = rng.choice(["whole", "whole", "decimal"])
            values = list(dict.fromkeys(spelt_number(rng, kind)[0] for _ in range(count * 4)))[:count]
            schema = {"type": "integer" if kind == "whole" else "number", "description": f"The {words}"}
        else:
            words = rng.choice([each for each in TEXTS if len(TEXTS[each]) >= count])
            wording = rng.choice(WORDINGS.get(words, ["for {v}", "with {v}", f"{words} {{v}}"]))
            values = rng.sample(TEXTS[words], count)
            schema = {"type": "string", "description": rng.choice([f"The {words}", f"{words} to use"])}
        name = slot_name(rng, words)
        if name in properties or len(values) < count:
            continue
        properties[name] = schema
        slots.append((name, wording, values, rng.random() < 0.3))
    own = [slot for slot in slots if not slot[3]]
    if not own:
        return None
    sentence = Sentence()
    sentence.say(rng.choice(["", "Please ", "Can you ", "I need to "]) + f"{verb} the {thing}")

    def say(slot: tuple[str, str, list[str], bool], at: int, calls: list[int]) -> None:
        name, wording, values, _ = slot
        before, _, after = wording.partition("{v}")
        sentence.say(before)
        sentence.value(values[at], *(f"{call}.{name}" for call in calls))
        sentence.say(after)

    shared, late = [slot for slot in slots if slot[3]], rng.random() < 0.5
    for slot in () if late else shared:
        sentence.say(rng.choice([" ", " with "]))
        say(slot, 0, list(range(count)))
    joints = [
        " and ",
        ", and ",
        "; ",
        ", then with ",
        " and another with ",
        " and for ",
        ". Do the same for ",
        ". Then ",
    ]
    joint, lead = rng.choice(joints), rng.choice([" with ", " for ", " given ", ": ", " "])
    for call in range(count):
        sentence.say(lead if call == 0 else ", " if call < count - 1 and rng.random() < 0.7 else joint)
        for place, slot in enumerate(own):
            sentence.say(rng.choice([" and ", ", ", " "]) if place else "")
            say(slot, call, [call])
    for slot in shared if late else ():
        sentence.say(rng.choice([", ", " ", ", all with ", ", both ", ", each "]))
        say(slot, 0, list(range(count)))
    sentence.say(rng.choice([".", "?", ""]))
    name = f"{verb} {thing}".replace(" ", "_")
    arguments = [
        {slot: "1" for slot in properties if f"{call}.{slot}" in sentence.spans} for call in range(count)
    ]
    required = [slot for slot in properties if rng.random() < 0.8]
    return {
        "request": sentence.text,
        "tools": [tool(name, f"{verb.capitalize()} the {thing}.", properties, required)],
        "calls": [{"name": name, "arguments": each} for each in arguments],
        "spans": sentence.spans,
        "source": "made",
    }


def tool_of(row: Row, name: str) -> dict[str, Any] | None:
    return next((each for each in row["tools"] if each["name"] == name), None)


def _replaced(row: Row, start: int, end: int, words: str) -> bool:
    """Puts other words into a request; False where another span is touched."""
    moved = len(words) - (end - start)
    for spans in row["spans"].values():
        for span in spans:
            if span[0] < end and span[1] > start:
                return False
            if span[0] >= end:
                span[0] += moved
                span[1] += moved
    row["request"] = row["request"][:start] + words + row["request"][end:]
    return True


def spread(row: Row, pool: dict[tuple[str, str], list[str]], rng: random.Random, *, how: str) -> Row | None:
    """One value becomes several: a list, a list of choices, or several calls."""
    if len(row["calls"]) != 1:
        return None
    row = copy.deepcopy(row)
    call = row["calls"][0]
    found = tool_of(row, call["name"])
    if found is None:
        return None
    properties = found["inputSchema"].get("properties") or {}
    able = [
        name
        for name in call["arguments"]
        if len(row["spans"].get(f"0.{name}", ())) == 1
        and isinstance(properties.get(name), dict)
        and properties[name].get("type") in ("string", "integer", "number")
        and len(pool.get((call["name"], name), ())) >= 4
    ]
    if not able:
        return None
    name = rng.choice(able)
    start, end = row["spans"].pop(f"0.{name}")[0]
    mine, others = row["request"][start:end], pool[call["name"], name]
    values = [each for each in rng.sample(others, min(6, len(others))) if each.lower() != mine.lower()]
    values = [mine, *values[: rng.choice([1, 1, 2, 2, 3])]]
    if len(values) < 2:
        return None
    rng.shuffle(values)
    sentence = Sentence()
    sentence.listed(values, "v", rng)
    if not _replaced(row, start, end, sentence.text):
        return None
    spots = [[left + start, right + start] for left, right in sentence.spans["v"]]
    if how == "calls":
        shared = {key: spans for key, spans in row["spans"].items() if key.startswith("0.")}
        row["calls"] = [copy.deepcopy(call) for _ in values]
        for number, (value, spot) in enumerate(zip(values, spots, strict=True)):
            row["calls"][number]["arguments"][name] = value
            row["spans"] |= {f"{number}.{key[2:]}": copy.deepcopy(spans) for key, spans in shared.items()}
            row["spans"][f"{number}.{name}"] = [spot]
        return row
    schema = properties[name]
    about = schema.get("description") or name
    new = {"type": "array", "items": {"type": schema["type"]}}
    new["description"] = rng.choice(
        [about, f"List of {about[:1].lower()}{about[1:]}", f"{about} (several allowed)"]
    )
    if how == "choices":
        choices = list(
            dict.fromkeys(each.lower() for each in [*values, *rng.sample(others, min(8, len(others)))])
        )
        rng.shuffle(choices)
        new["items"] = {"type": "string", "enum": choices}
        values = [value.lower() for value in values]
    properties[name] = new
    call["arguments"][name] = values
    row["spans"][f"0.{name}"] = spots
    return row


def to_choice(row: Row, pool: dict[tuple[str, str], list[str]], rng: random.Random) -> Row | None:
    """A free text becomes a choice among values that others said."""
    if len(row["calls"]) != 1:
        return None
    row = copy.deepcopy(row)
    call = row["calls"][0]
    found = tool_of(row, call["name"])
    properties = (found or {"inputSchema": {}})["inputSchema"].get("properties") or {}
    able = [
        name
        for name, schema in properties.items()
        if isinstance(schema, dict)
        and schema.get("type") == "string"
        and not schema.get("enum")
        and len(pool.get((call["name"], name), ())) >= 4
        and isinstance(call["arguments"].get(name, ""), str)
    ]
    if not able:
        return None
    name = rng.choice(able)
    others = pool[call["name"], name]
    choices = [each.lower() for each in rng.sample(others, min(len(others), rng.choice([2, 3, 4, 5, 7])))]
    if name in call["arguments"]:
        spans = row["spans"].get(f"0.{name}")
        said = row["request"][spans[0][0] : spans[0][1]] if spans else call["arguments"][name]
        call["arguments"][name] = said.lower()
        choices.append(said.lower())
    choices = list(dict.fromkeys(choices))
    rng.shuffle(choices)
    properties[name]["enum"] = choices
    return row


def with_more_slots(row: Row, rng: random.Random) -> Row | None:
    """One or two switches or numbers more, some of them asked for at the end of the request."""
    if len(row["calls"]) != 1:
        return None
    row = copy.deepcopy(row)
    call = row["calls"][0]
    found = tool_of(row, call["name"])
    if found is None:
        return None
    properties = found["inputSchema"].setdefault("properties", {})
    for _ in range(rng.choice([1, 1, 2])):
        request = row["request"].rstrip()
        stop = request[-1] if request[-1:] in ".?!" else ""
        request = request[: len(request) - len(stop)] + rng.choice([", ", " "])
        if any(right > len(request) for spans in row["spans"].values() for _, right in spans):
            return None
        if rng.random() < 0.6:
            naming, about, yes, no = rng.choice(SWITCHES)
            what = rng.choice(SWITCHED)
            name = naming.format(x=re.sub(r"^(a|an|the) ", "", what).replace(" ", "_"))
            if name in properties:
                continue
            wanted = rng.choice([True, True, False, None])
            about = about.format(x=what) + rng.choice(["", ". Default is false.", ". Default true."])
            properties[name] = {"type": "boolean", "description": about}
            if wanted is not None:
                call["arguments"][name] = wanted
                row["request"] = request + rng.choice(yes if wanted else no).format(x=what) + stop
        else:
            name, about, wordings = rng.choice(NUMBERS)
            if name in properties:
                continue
            properties[name] = {
                "type": "integer",
                "description": about + rng.choice(["", ".", ", default 10"]),
            }
            if rng.random() < 0.55:
                written = spelt_number(rng, rng.choice(["whole", "whole", "word"]))[0]
                before, _, after = rng.choice(wordings).partition("{v}")
                at = len(request) + len(before)
                row["request"] = request + before + written + after + stop
                call["arguments"][name] = written
                row["spans"][f"0.{name}"] = [[at, at + len(written)]]
    mixed = list(properties.items())
    rng.shuffle(mixed)
    found["inputSchema"]["properties"] = dict(mixed)
    return row


def joined(rows: list[Row], rng: random.Random) -> Row:
    """Several requests become one message."""
    text, calls, spans, tools = "", [], {}, {}
    for place, row in enumerate(rows):
        if any(tools.get(each["name"], each) != each for each in row["tools"]):
            continue  # another tool of the same name
        joint = rng.choice(JOINTS) if place else ""
        if place:
            text = text.rstrip()
            new_sentence = joint.strip()[:1].isupper()
            text = (text if text[-1:] in ".?!" else f"{text}.") if new_sentence else text.rstrip(".?!")
        text += joint
        request = row["request"]
        lead = len(request) - len(request.lstrip())
        request = request.strip()
        if place and request and rng.random() < 0.8:
            request = request[0].lower() + request[1:]
        at = len(text) - lead
        for key, places in row["spans"].items():
            call, _, name = key.partition(".")
            spans[f"{int(call) + len(calls)}.{name}"] = [[left + at, right + at] for left, right in places]
        text += request
        calls += row["calls"]
        tools |= {each["name"]: each for each in row["tools"] if each["name"] not in tools}
    kept = {key: [span for span in places if span[1] <= len(text)] for key, places in spans.items()}
    return {"request": text, "tools": list(tools.values()), "calls": calls, "spans": kept, "source": "joined"}


def beside_talk(row: Row, talk: str, rng: random.Random) -> Row:
    """A request with something said before or after it that asks for nothing."""
    ended = talk if talk[-1:] in ".?!" else f"{talk}."
    if rng.random() < 0.4:
        request = row["request"].rstrip()
        return row | {"request": f"{request if request[-1:] in '.?!' else request + '.'} {ended}"}
    moved = len(ended) + 1
    spans = {key: [[left + moved, right + moved] for left, right in at] for key, at in row["spans"].items()}
    return row | {"request": f"{ended} {row['request']}", "spans": spans}


_WORD_TYPED = re.compile(r"[A-Za-z]{4,}")


def mistyped(row: Row, rng: random.Random) -> Row:
    """As people type in haste: no capitals or apostrophes, letters swapped, doubled or left out."""
    if rng.random() < 0.65:
        return row
    text = row["request"]
    spans: dict[str, list[list[int]]] = row.get("spans", {})
    kept = {at for places in spans.values() for start, end in places for at in range(start, end)}
    letters = list(text)
    words = [each for each in _WORD_TYPED.finditer(text) if not kept.intersection(range(*each.span()))]
    if words and rng.random() < 0.6:
        for word in rng.sample(words, min(len(words), rng.choice([1, 1, 2]))):
            at = rng.randrange(word.start() + 1, word.end() - 1)
            how = rng.random()
            if how < 0.5:
                letters[at], letters[at + 1] = letters[at + 1], letters[at]
            else:
                letters[at] = letters[at] * 2 if how < 0.7 else ""
    if rng.random() < 0.5:
        letters = ["" if each in "'\u2019" and at not in kept else each for at, each in enumerate(letters)]
    if rng.random() < 0.6:
        letters = [each.lower() for each in letters]
    if letters and letters[-1] in (".", "?") and rng.random() < 0.6:
        letters[-1] = ""
    places = [0]
    for each in letters:
        places.append(places[-1] + len(each))
    moved = {key: [[places[start], places[end]] for start, end in each] for key, each in spans.items()}
    return (
        row | {"request": "".join(letters), "spans": moved}
        if "spans" in row
        else row | {"request": "".join(letters)}
    )


def value_pool(rows: list[Row]) -> dict[tuple[str, str], list[str]]:
    """What was said for each slot of each tool."""
    found: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        for number, call in enumerate(row["calls"]):
            for name in call["arguments"]:
                spans = row["spans"].get(f"{number}.{name}")
                if spans and len(spans) == 1 and spans[0][1] - spans[0][0] < 40:
                    said = row["request"][spans[0][0] : spans[0][1]]
                    found.setdefault((call["name"], name), set()).add(said)
    return {key: sorted(values) for key, values in found.items()}


def varied(  # noqa: C901 - one branch a way to vary
    rows: list[Row], weights: list[float], rng: random.Random
) -> Iterator[Row]:
    """Rows without end, as they were written and varied."""
    pool = value_pool(rows)
    of_tool: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        if len(row["calls"]) == 1:
            of_tool.setdefault(row["calls"][0]["name"], []).append(at)
    everything = range(len(rows))
    talk = [row["request"] for row in rows if not row["tools"] and len(row["request"]) < 80]
    while True:
        for at in rng.choices(everything, weights, k=4096):
            row, made, draw = rows[at], None, rng.random()
            if not row["tools"]:
                yield mistyped(row, rng)
                continue
            single = len(row["calls"]) == 1
            if draw < 0.15:
                made = NumberTool(rng).row()
            elif draw < 0.21:
                made = repeated(rng)
            elif draw < 0.32:
                made = spread(row, pool, rng, how=rng.choice(["list", "list", "choices", "calls", "calls"]))
            elif draw < 0.40:
                made = to_choice(row, pool, rng)
            elif draw < 0.47 and single and len(row["request"]) < 160:
                alike = of_tool[row["calls"][0]["name"]]
                if len(alike) > 3:
                    made = joined(
                        [row, *(rows[rng.choice(alike)] for _ in range(rng.choice([1, 1, 2, 3])))], rng
                    )
            elif draw < 0.54 and row["calls"] and len(row["request"]) < 200:
                more = [rows[rng.choice(everything)] for _ in range(rng.choice([1, 1, 2]))]
                made = joined([row, *(each for each in more if each["calls"])], rng)
            elif draw < 0.58 and talk and len(row["request"]) < 200:
                made = beside_talk(row, rng.choice(talk), rng)
            row = mistyped(made or row, rng)
            yield (with_more_slots(row, rng) or row) if rng.random() < 0.18 else row
