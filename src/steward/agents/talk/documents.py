"""One's documents as things, without a language model: a procedure for the planner.

Owns "list my documents", "summarise the lease", "who wrote that?" and "where does it say so?". A summary is
how each section begins, word for word: nothing here is paraphrased. What documents say to a question is
`own_knowledge`'s.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import Any, cast

from steward.agents.researcher.evidence import KNOWLEDGE_SEARCH
from steward.agents.researcher.quotable import sentences
from steward.contract import linear_re as re
from steward.language.references import read_ordinals
from steward.models.planner.decisions import Call, Decision, Tell
from steward.models.planner.dialogue import Dialogue, Step
from steward.models.planner.ranking import KnownTool, Scored
from steward.models.planner.words import bare, stems

DOCUMENTS = "documents"
LISTS, READS = "list_documents", "read_document"
MOST_TOLD = 30
MOST_SECTIONS = 8
MOST_SENTENCES = 6  # of a summary, where a text has few sections
NONE = "There are no documents yet. Say “ingest PATH into COLLECTION”, or drop them on the page."
_I = re.IGNORECASE
_KIND = r"(?:documents?|files?|papers?|texts?|library|collections? of documents)"
_LIST = re.compile(
    rf"^(?:list|show|display|name)(?: me)? (?:all )?(?:of )?(?:my|the|our|your) {_KIND}(?: (?:you "
    rf"(?:have|know)|there are))?\W*$|"
    rf"^(?:what|which) {_KIND} (?:(?:do|did|have) (?:i|you|we)|are there|i've)\b.{{0,30}}$|"
    rf"^what(?:'s| is) in (?:my|the|our) (?:library|knowledge base|documents)\W*$",
    _I,
)
_SUMMARY = re.compile(
    r"^(?:give me (?:a|the) summary of|summari[sz]e|sum up|outline|what(?:'s| is) (?P<what>.+?) "
    r"about$|overview of)\s*"
    r"(?P<name>.*?)(?: (?:for me|briefly|please|in short))*\W*$",
    _I,
)
_WROTE = re.compile(
    r"^(?:and )?(?:who (?:wrote|is the author of|authored|compiled|edited|"
    r"published)|whose (?:is|text is|words "
    r"are)|who(?:'s| is) the author(?: of)?)\s*(?P<name>.*?)\W*$",
    _I,
)
_WHERE = re.compile(
    rf"^(?:and |so )?(?:where (?:does|did|do) (?:it|that|this|you) (?:say|come from|stand|read|get|"
    rf"find|have)\b.{{0,20}}|"
    rf"where(?:'s| is) that (?:from|written)|(?:what|which) {_KIND}(?: or page| page)? (?:is|was|says|"
    rf"does|did)\b.{{0,30}}|"
    r"(?:what|which)(?:'s| is) (?:the|your) source(?: for| of)?(?: that| it)?|says who|"
    r"how do you know(?: that)?|"
    r"on (?:what|which) page(?: is that| was that)?)$",
    _I,
)
_THAT = re.compile(rf"^(?:(?:that|this|it|these|those)(?: {_KIND})?|the (?:last )?{_KIND})?$", _I)
_AUTHOR = re.compile(
    r"\b(?:[Ww]ritten|[Cc]ompiled|[Pp]repared|[Aa]uthored|[Pp]ublished|[Ee]dited)\s+by\s+\S|"
    r"\b[Aa]uthors?\s*:\s*\S|^\W*[Bb]y\s+[A-Z]"
)


@dataclass(frozen=True, slots=True)
class Documents:
    """Implements the planner's `Procedure`."""

    def decide(
        self,
        dialogue: Dialogue,
        tools: Sequence[KnownTool],
        *,
        ranked: Sequence[Scored],  # noqa: ARG002 - the interface's
        now: datetime,  # noqa: ARG002
    ) -> Decision | None:
        said = bare(dialogue.utterance)
        if dialogue.asked or not {LISTS, READS} <= {tool.name for tool in tools}:
            return None
        if _LIST.match(said):
            return _listed(dialogue)
        if _WHERE.match(said.rstrip(" ?!.")):
            return _place(dialogue)
        summed = _SUMMARY.match(said)
        if summed is not None:
            return _about_one(dialogue, (summed["what"] or summed["name"]).strip(), summary=True)
        wrote = _WROTE.match(said)
        return None if wrote is None else _about_one(dialogue, wrote["name"].strip(), summary=False)


def _listed(dialogue: Dialogue) -> Decision:
    step = _step(dialogue, LISTS)
    if step is None:
        return Call(tool=LISTS, arguments={}, goal=0, confidence=1.0)
    if step.failure is not None:
        return Tell(text=f"I could not look: {step.failure}")
    found = _rows(step, "documents")
    if not found:
        return Tell(text=NONE, confidence=1.0)
    lines = [
        f"{number}. {each.get('title')} ({PurePath(str(each.get('source'))).name}, in "
        f"'{each.get('collection')}')"
        for number, each in enumerate(found[:MOST_TOLD], 1)
    ]
    more = [f"… and {len(found) - MOST_TOLD} more."] if len(found) > MOST_TOLD else []
    count = "1 document" if len(found) == 1 else f"{len(found)} documents"
    return Tell(text="\n".join([f"You have {count}:", *lines, *more]), confidence=1.0)


def _about_one(dialogue: Dialogue, name: str, *, summary: bool) -> Decision | None:
    """The document that is named, or the one quoted last where it is only pointed to."""
    read = _step(dialogue, READS)
    if read is not None:
        if read.failure is not None:
            return Tell(text=f"I could not read it: {read.failure}")
        return _summed(read) if summary else _author(read)
    pointed = _THAT.match(name) is not None
    quoted = _quoted_last(dialogue) if pointed else _at_its_place(name, dialogue)
    pointed = pointed or quoted is not None
    if pointed and quoted is None:
        return None
    listed = _step(dialogue, LISTS)
    if listed is None:
        return Call(tool=LISTS, arguments={}, goal=0, helper=True)
    found = _meant(quoted or name, _rows(listed, "documents"), exact=pointed)
    if found is None:
        return None
    return Call(tool=READS, arguments={"document": str(found.get("source"))}, goal=0, helper=True)


def _meant(name: str, documents: Sequence[Mapping[str, Any]], *, exact: bool) -> Mapping[str, Any] | None:
    """The one document whose title or file name has all these words; None where that is open."""
    if exact:
        return next((each for each in documents if str(each.get("source")).endswith(name)), None)
    wanted = set(stems(re.sub(rf"\b{_KIND}\b", " ", name, flags=_I)))
    if not wanted:
        return documents[0] if len(documents) == 1 else None
    fitting = [each for each in documents if wanted <= set(stems(_named(each)))]
    return fitting[0] if len(fitting) == 1 else None


def _named(document: Mapping[str, Any]) -> str:
    return f"{document.get('title')} {PurePath(str(document.get('source'))).stem}"


def _quoted_last(dialogue: Dialogue) -> str | None:
    for step in reversed(dialogue.earlier):
        if step.tool == READS and step.failure is None:
            return str(step.arguments.get("document"))
        rows = _rows(step, "results") if step.tool == KNOWLEDGE_SEARCH else []
        if rows:
            return str(rows[0].get("source_document"))
    return None


def titles_quoted(dialogue: Dialogue) -> list[str]:
    """Of the documents that the turn before looked into, the nearest first, where it did nothing else."""
    latest = [step for step in dialogue.earlier if step.turn == len(dialogue.said_earlier)]
    if any(not step.helper for step in latest):
        return []
    rows = [row for step in latest if step.tool == KNOWLEDGE_SEARCH for row in _rows(step, "results")]
    about = (cast("Mapping[str, Any]", row.get("metadata") or {}) for row in rows)
    return [str(each["document_title"]) for each in about if each.get("document_title")]


def _place(dialogue: Dialogue) -> Tell | None:
    """Where the last answer from a document stands."""
    for step in reversed(dialogue.earlier):
        rows = _rows(step, "results") if step.tool == KNOWLEDGE_SEARCH else []
        if rows:
            file, above = PurePath(str(rows[0].get("source_document"))).name, rows[0].get("header_path")
            under = (
                " > ".join(map(str, cast("list[Any]", above)))
                if isinstance(above, list)
                else str(above or "")
            )
            return Tell(text=f"It stands in {file}{f', under “{under}”' if under else ''}.", confidence=1.0)
    return None


def _at_its_place(name: str, dialogue: Dialogue) -> str | None:
    """ "What's the first one about?", of the documents that were just listed."""
    at = read_ordinals(name)
    shown = next(
        (step for step in reversed(dialogue.earlier) if step.tool == LISTS and not step.helper), None
    )
    found = _rows(shown, "documents") if shown is not None else []
    if len(at) != 1 or not -len(found) <= at[0] <= len(found):
        return None
    return str(found[at[0] - 1 if at[0] > 0 else at[0]].get("source"))


def _summed(step: Step) -> Tell:
    """How each section begins, each with its heading; of a text of few sections, more of each."""
    sections: dict[str, list[str]] = {}
    for passage in _rows(step, "passages"):
        pieces = sentences(str(passage.get("text") or ""))
        if pieces:
            sections.setdefault(str(passage.get("heading") or ""), []).extend(pieces)
    if not sections:
        return Tell(text=f"There is no text in {_title(step)} that could be quoted.", confidence=1.0)
    shown = list(sections.items())[:MOST_SECTIONS]
    share = max(1, MOST_SENTENCES // len(shown))
    lines = [f"- {_head(heading)}“{' '.join(pieces[:share])}”" for heading, pieces in shown]
    if len(shown) == 1:
        pieces = shown[0][1]
        lines = [f"- “{piece}”" for piece in pieces[:share]]
    more = [f"… and {len(sections) - len(shown)} more sections."] if len(sections) > len(shown) else []
    rest = (
        [f"… and {len(shown[0][1]) - share} more sentences."]
        if len(lines) == share < len(shown[0][1])
        else []
    )
    head = f"How {'' if len(shown) == 1 else 'each section of '}{_title(step)} begins, in its own words:"
    return Tell(text="\n".join([head, *lines, *more, *(rest if len(shown) == 1 else [])]), confidence=1.0)


def _head(heading: str) -> str:
    last = heading.rpartition(" > ")[2]
    return f"{last}: " if last else ""


def _author(step: Step) -> Tell:
    data = cast("Mapping[str, Any]", step.data)
    known: Any = data.get("metadata") or {}
    given = cast("Mapping[str, Any]", known)
    author = next((str(value) for name, value in given.items() if "author" in name.lower() and value), None)
    if author:
        return Tell(text=f"{_title(step)} names as its author: {author}.", confidence=1.0)
    for passage in _rows(step, "passages"):
        for piece in sentences(str(passage.get("text") or "")):
            if _AUTHOR.search(piece):
                return Tell(text=f"“{piece}” ({_title(step)})", confidence=1.0)
    return Tell(text=f"{_title(step)} does not say who wrote it.", confidence=1.0)


def _title(step: Step) -> str:
    data = cast("Mapping[str, Any]", step.data)
    return f"“{data.get('title')}” ({PurePath(str(data.get('source'))).name})"


def _step(dialogue: Dialogue, tool: str) -> Step | None:
    return next((step for step in dialogue.steps if step.tool == tool), None)


def _rows(step: Step, name: str) -> list[Mapping[str, Any]]:
    data: Any = step.data
    found: Any = cast("Mapping[str, Any]", data).get(name) if isinstance(data, Mapping) else None
    rows = cast("list[Any]", found) if isinstance(found, list) else []
    return [cast("Mapping[str, Any]", row) for row in rows if isinstance(row, Mapping)]
