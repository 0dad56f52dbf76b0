"""Figures out of documents that have to be worked out, without a language model: a procedure for the planner.

Owns "how much are the roof and the bill together?" and "how much flour for two tins?": each figure is quoted
from its sentence, and the calculator works with nothing else. Where a figure is missing, nothing is reckoned.
"What are 4 chairs at 30 each?" brings its figures along.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import Any, NamedTuple, cast

from steward.agents.researcher.evidence import KNOWLEDGE_SEARCH
from steward.agents.researcher.questions import keywords
from steward.agents.researcher.quotable import sentences
from steward.contract import linear_re as re
from steward.language.prices import priced_sum
from steward.models.planner.decisions import Call, Decision, Tell
from steward.models.planner.dialogue import Dialogue, Step
from steward.models.planner.ranking import KnownTool, Scored
from steward.models.planner.words import NUMBER_WORDS, bare, stem, stems

FIGURES = "figures"
CALCULATE = "calculate"
PASSAGES = 5
MOST_THINGS = 5
_I = re.IGNORECASE
_SURE = 1.0
_TOGETHER = re.compile(
    r"^(?:and |so )?(?:how much|what)(?:'s| is| are| do| does| did| would| will| was|"
    r" were)?\s+(?P<things>.+?)"
    r"(?:\s+(?:cost|come|add up|amount|make|be)(?: to)?)?,?\s+(?:together|altogether|in total|combined|"
    r"all told|in all|summed up)$",
    _I,
)
_JOINT = re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+", _I)
_NUMBER = r"\d[\d,]*(?:\.\d+)?"
_WORDS = "|".join(("an?", *(word for word in NUMBER_WORDS if word != "zero")))
_FOR = re.compile(
    rf"\s+(?:for|to (?:make|serve|feed))\s+(?P<count>{_NUMBER}|"
    rf"{_WORDS})\s+(?P<unit>[a-z]+)(?P<of>\s+of\s+\S.*)?$",
    _I,
)
_BASE = re.compile(
    rf"\b(?:for|serves|feeds|makes|per)\s+(?:(?P<count>{_NUMBER}|{_WORDS})\s+)?(?P<unit>[a-z]+)", _I
)
_AMOUNT = re.compile(
    rf"(?P<sign>[£$€])\s?(?P<money>{_NUMBER})|(?P<number>{_NUMBER})\s?(?P<unit>pounds?|dollars?|euros?|"
    rf"pence|cents|kilos?|kg|g|"
    r"grams?|ml|l|litres?|liters?|tbsp|tsp|cups?|hours?|minutes?|days?|weeks?|months?|miles?|km|"
    r"metres?|meters?)\b",
    _I,
)
_ASKED = re.compile(r"^(?:and |so )?how (?:much|many)\s+(?P<what>\S+(?:\s+\S+)?)", _I)


class _Figure(NamedTuple):
    number: str
    unit: str
    sentence: str
    file: str

    @property
    def told(self) -> str:
        return f"{self.unit}{self.number}" if self.unit in "£$€" else f"{self.number} {self.unit}".strip()


@dataclass(frozen=True, slots=True)
class Figures:
    """Implements the planner's `Procedure`."""

    def decide(
        self,
        dialogue: Dialogue,
        tools: Sequence[KnownTool],
        *,
        ranked: Sequence[Scored],  # noqa: ARG002 - the interface's
        now: datetime,  # noqa: ARG002
    ) -> Decision | None:
        if dialogue.asked or not {KNOWLEDGE_SEARCH, CALCULATE} <= {tool.name for tool in tools}:
            return None
        said = bare(dialogue.utterance).rstrip(" ?!.")
        priced = priced_sum(said)
        if priced is not None:
            return _reckoned(priced.expression, priced.sign, (), dialogue)
        together = _TOGETHER.match(said)
        if together is not None:
            return _summed(_JOINT.split(together["things"]), dialogue)
        more = _FOR.search(said)
        asked = _ASKED.match(said)
        return _scaled(said, more, asked, dialogue) if more is not None and asked is not None else None


def _summed(things: Sequence[str], dialogue: Dialogue) -> Decision | None:
    if not 2 <= len(things) <= MOST_THINGS:
        return None
    searched = {str(step.arguments.get("query")): step for step in _steps(dialogue, KNOWLEDGE_SEARCH)}
    for thing in things:
        if thing not in searched:
            return _search(thing)
    figures = [_figure_of(thing, searched[thing]) for thing in things]
    known = [each for each in figures if each is not None]
    if len(known) < len(things) or len({stem(each.unit) for each in known}) > 1:
        return None
    return _reckoned(" + ".join(each.number for each in known), known[0].unit, known, dialogue)


def _scaled(said: str, more: re.Match, asked: re.Match, dialogue: Dialogue) -> Decision | None:
    """So much for one of these; how much for more of them."""
    question = f"{said[: more.start()]}{more['of'] or ''}"
    step = next(iter(_steps(dialogue, KNOWLEDGE_SEARCH)), None)
    if step is None:
        return _search(question)
    base = next(
        (
            (found, text)
            for text, _ in _sentences(step)
            for found in _BASE.finditer(text)
            if stem(found["unit"]) == stem(more["unit"])
        ),
        None,
    )
    figure = _counted(asked["what"], step)
    if base is None or figure is None:
        return None
    expression = f"{figure.number} * {_count(more['count'])} / {_count(base[0]['count'] or '1')}"
    whole = figure if base[1] == figure.sentence else None
    quotes = [figure] if whole else [figure._replace(sentence=base[1]), figure]
    return _reckoned(expression, figure.unit, quotes, dialogue)


def _search(query: str) -> Call:
    return Call(
        tool=KNOWLEDGE_SEARCH, arguments={"query": query[:500], "top_k": PASSAGES}, goal=0, helper=True
    )


def _reckoned(expression: str, unit: str, figures: Sequence[_Figure], dialogue: Dialogue) -> Decision:
    expression = expression.replace(",", "")
    done = next(iter(_steps(dialogue, CALCULATE)), None)
    if done is None:
        return Call(tool=CALCULATE, arguments={"expression": expression}, goal=0, confidence=_SURE)
    if done.failure is not None:
        return Tell(text=f"I could not work it out: {done.failure}")
    data: Any = done.data
    result = cast("Mapping[str, Any]", data).get("result") if isinstance(data, Mapping) else data
    told = _Figure(str(result), unit, "", "").told
    quotes = [f"“{each.sentence}” ({each.file})" for each in figures]
    return Tell(text="\n".join([f"{told} ({expression}).", *dict.fromkeys(quotes)]), confidence=_SURE)


def _figure_of(thing: str, step: Step) -> _Figure | None:
    """The one figure of the sentence that names this thing; none where it is not the only one."""
    wanted = set(keywords(thing))
    for text, file in _sentences(step):
        amounts = list(_AMOUNT.finditer(text))
        if wanted and wanted <= set(stems(text)) and len(amounts) == 1:
            return _figure(amounts[0], text, file)
    return None


def _counted(what: str, step: Step) -> _Figure | None:
    """ "500 g strong flour" for "flour": the number that stands before it, with its measure."""
    wanted = {stem(word) for word in what.split()}
    for text, file in _sentences(step):
        for piece in re.split(r"[,;]\s|\.\s", text):
            found = re.search(rf"(?<![\w.])({_NUMBER})\s?([a-z]+)?", piece, flags=_I)
            if found is not None and wanted & set(stems(piece[found.start(1) :])):
                measure = found[2] or ""
                unit = "" if stem(measure) in wanted else measure
                return _Figure(found[1], unit, text, file)
    return None


def _figure(found: re.Match, text: str, file: str) -> _Figure:
    if found["sign"]:
        return _Figure(found["money"], found["sign"], text, file)
    return _Figure(found["number"], found["unit"], text, file)


def _count(said: str) -> str:
    if said.lower() in ("a", "an"):
        return "1"
    return str(NUMBER_WORDS.get(said.lower(), said)).replace(",", "")


def _steps(dialogue: Dialogue, tool: str) -> list[Step]:
    return [step for step in dialogue.steps if step.tool == tool]


def _sentences(step: Step) -> list[tuple[str, str]]:
    """What can be quoted of the passages found, each with its file."""
    data: Any = step.data
    rows = cast("Mapping[str, Any]", data).get("results") if isinstance(data, Mapping) else None
    found: list[tuple[str, str]] = []
    for row in cast("list[Any]", rows if isinstance(rows, list) else []):
        given = cast("Mapping[str, Any]", row)
        file = PurePath(str(given.get("source_document"))).name
        found += [(piece, file) for piece in sentences(str(given.get("content") or ""))]
    return found
