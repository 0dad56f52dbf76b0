"""What an answer rests on, by the record: sources, confidence and an account of the way there.

Confidence is computed from evidence: how much of the answer stands in a source, how many independent
sources say it, whether the others agree, and what failed on the way. A model's opinion of itself counts
for nothing.
"""

from collections.abc import Iterator, Mapping, Sequence

from steward.agents.researcher.evidence import (
    DOCUMENT,
    KNOWLEDGE_SEARCH,
    MEMORY,
    MEMORY_SEARCHES,
    PAGE_READERS,
    STORE,
    TOOL,
    WEB_SEARCHES,
    SourcePassage,
    ToolOutcome,
    failures,
    host_of,
    passages,
)
from steward.agents.researcher.questions import keywords, names_in, split_question
from steward.agents.researcher.quotable import sentences
from steward.contract import linear_re as re
from steward.conversations.model import Source
from steward.models.planner.words import stems

BY_COUNT = (0.0, 0.7, 0.88, 0.94, 0.97)  # independent sources that say it: none, one, two, …
DISAGREEMENT = 0.2  # what is lost when every other source on the subject says something else
RETRIEVAL = 0.5  # what is lost when the library rates its passages as not relevant at all
FAILURE = 0.3  # what is lost when every call but one failed
_SUPPORTED = 0.7  # of the words of a sentence, for a source to say it
_ON_SUBJECT = 0.5  # of the words of a question, for a source to speak about it
_MARKS = re.compile(r"\s*\[\d{1,2}\]|[“”\"]|^(?:Based on prior research|From memory)[^:]*:\s*", re.MULTILINE)
_LISTED = re.compile(r"^\s*(?:\[\d{1,2}\]\s.*|sources?:?)\s*$", re.MULTILINE | re.IGNORECASE)


def support(question: str, answer: str, heard: Sequence[ToolOutcome]) -> list[SourcePassage]:
    """The passages that say what the answer says, and hold what it answers with."""
    claims, core = _claims(answer), _core(question, answer)
    subject = names_in(question) or frozenset(keywords(question))
    return [each for each in passages(heard) if _says(each, claims, subject) and _holds(each, core)]


def _core(question: str, answer: str) -> frozenset[str]:
    """The names and numbers that the first statement adds to a question: "Paris", for its capital.

    Further statements tell more, and a source of theirs does not support the answer by that.
    """
    if len(split_question(question)) > 1:  # each part has an answer of its own
        return frozenset()
    body = statements(answer)
    first = next(iter(sentences(body)), body)
    return names_in(f"Answer: {first}") - frozenset(stems(question))


def _holds(passage: SourcePassage, core: frozenset[str]) -> bool:
    if not core or passage.source.kind == TOOL:
        return True
    return bool(core & (set(stems(passage.text)) | set(stems(passage.source.title))))


def statements(answer: str) -> str:
    """What an answer says, without its marks and its list of sources."""
    return _MARKS.sub("", _LISTED.sub("", answer)).strip()


def _claims(answer: str) -> list[frozenset[str]]:
    body = statements(answer)
    pieces = sentences(body) or [body]
    return [frozenset(found) for piece in pieces if (found := stems(piece))]


def _says(passage: SourcePassage, claims: Sequence[frozenset[str]], subject: frozenset[str]) -> bool:
    said = set(stems(passage.text)) | set(stems(passage.source.title))
    if passage.source.kind != TOOL and subject and len(subject & said) < _ON_SUBJECT * len(subject):
        return False
    needed = _SUPPORTED if passage.source.kind != TOOL else 0.4
    return any(len(claim & said) >= needed * len(claim) for claim in claims)


def confidence(question: str, answer: str, heard: Sequence[ToolOutcome]) -> float:
    supporting = support(question, answer, heard)
    if not supporting:
        return 0.0
    base = max(_kept(supporting), _counted(question, supporting, heard) * _retrieved(supporting))
    searches = [each for each in heard if each.role != STORE]
    failed = len(failures(searches)) / max(1, len(searches))
    return round(base * (1 - FAILURE * failed), 2)


def _kept(supporting: Sequence[SourcePassage]) -> float:
    """What memory holds: as sure as when it was found, or a person's own word."""
    sure = [_stored_confidence(each.metadata) for each in supporting if each.source.kind == MEMORY]
    direct = [0.95 for each in supporting if each.source.kind == TOOL]
    return max([*sure, *direct], default=0.0)


def _retrieved(supporting: Sequence[SourcePassage]) -> float:
    """How well what was found fits, by whoever found it; a page that nobody rated counts in full."""
    found = [each for each in supporting if each.source.kind not in (MEMORY, TOOL)]
    rated = [each.score for each in found if each.source.kind == DOCUMENT and each.score > 0]
    return 1 - RETRIEVAL * (1 - max(rated)) if rated and len(rated) == len(found) else 1.0


def _stored_confidence(metadata: Mapping[str, object]) -> float:
    known = metadata.get("confidence")
    return min(1.0, max(0.0, float(known))) if isinstance(known, int | float) else 0.9


def _counted(question: str, supporting: Sequence[SourcePassage], heard: Sequence[ToolOutcome]) -> float:
    agreeing = {host_of(each.source) for each in supporting if each.source.kind not in (MEMORY, TOOL)}
    subject = names_in(question) or frozenset(keywords(question))
    speaking = {
        host_of(each.source)
        for each in passages(heard)
        if each.source.kind not in (MEMORY, TOOL)
        and subject
        and len(subject & set(stems(each.text))) >= _ON_SUBJECT * len(subject)
    } | agreeing
    if not agreeing:
        return 0.0
    agreement = len(agreeing) / len(speaking)
    return BY_COUNT[min(len(agreeing), len(BY_COUNT) - 1)] * (1 - DISAGREEMENT * (1 - agreement))


def sources(supporting: Sequence[SourcePassage]) -> tuple[Source, ...]:
    named = [each.source for each in supporting if each.source.kind != TOOL]
    return tuple(dict.fromkeys(named))


def account(heard: Sequence[ToolOutcome], supporting: Sequence[SourcePassage]) -> str:
    """The way to the answer in sentences, each of them true of the record."""
    said = list(_way(heard))
    stored = sorted(
        {each.source.date for each in supporting if each.source.kind == MEMORY and each.source.date}
    )
    if stored:
        researched = any(each.source.kind == MEMORY and each.source.detail for each in supporting)
        said.append(
            f"{'Based on prior research' if researched else 'From memory,'} stored on {', '.join(stored)}."
        )
    places = {host_of(each.source) for each in supporting if each.source.kind not in (MEMORY, TOOL)}
    if places:
        one = len(places) == 1
        said.append(f"{len(places)} independent source{'' if one else 's'} support{'s' * one} the answer.")
    elif not supporting and heard:
        said.append("Nothing that was found supports an answer.")
    return " ".join((*said, *failures(heard)))


def _way(heard: Sequence[ToolOutcome]) -> Iterator[str]:
    pages = 0
    for each in heard:
        if each.failure is not None:
            continue
        found = len(passages([each]))
        asked = str(each.arguments.get("query") or "")
        if each.role in MEMORY_SEARCHES:
            yield f"Searched memory for “{asked}”: {_count(found, 'memory', 'memories')}."
        elif each.role == KNOWLEDGE_SEARCH:
            yield f"Asked the knowledge base for “{asked}”: {_count(found, 'passage', 'passages')}."
        elif each.role in WEB_SEARCHES:
            yield f"Searched the web for “{asked}”: {_count(found, 'result', 'results')}."
        elif each.role in PAGE_READERS:
            pages += 1
        elif each.role == STORE:
            yield "Stored what was found."
        else:
            yield f"Used {each.tool}."
    if pages:
        yield f"Read {_count(pages, 'page', 'pages')}."


def _count(number: int, one: str, many: str) -> str:
    return f"{number or 'no'} {one if number == 1 else many}"
