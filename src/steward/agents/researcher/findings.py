"""From passages to an answer: the sentences that answer, quoted, with where they stand.

Nothing is paraphrased here. A sentence is quoted or left out, and a question that nothing answers is said
to be open.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from steward.agents.researcher.evidence import MEMORY, WEB, SourcePassage, host_of
from steward.agents.researcher.questions import about_now, codes_in, keywords, names_in
from steward.agents.researcher.quotable import agreed_name, sentences
from steward.agents.researcher.relevance import ANSWERS, Relevance
from steward.conversations.model import Source
from steward.language.asking import may_answer
from steward.models.planner.words import stems

MOST_QUOTES = 3  # for one question
_NEAR_BEST = 0.75  # of the best quote's score, for another one to be worth reading
READS = 0.35  # relevance from which a passage of the library is read as an answer
NEAR = 0.12  # and from which it is worth showing where nothing answers
WEIGHT, NEARLY = 20.0, 2.5  # of likeness beside log-odds, and how much both must make to come near
ALIKE, SURELY_ALIKE = 0.28, 0.4  # likeness from which a memory may be meant, and from which it is
_EXCERPT = 320  # characters to which a quote may grow
_FRESH_NOW = timedelta(hours=1)  # for what is asked about today


@dataclass(frozen=True, slots=True)
class Quote:
    text: str
    source: Source
    score: float


@dataclass(frozen=True, slots=True)
class Finding:
    question: str
    quotes: tuple[Quote, ...] = ()
    answered: bool = False

    @property
    def score(self) -> float:
        return max((quote.score for quote in self.quotes), default=0.0)


@dataclass(frozen=True, slots=True)
class Freshness:
    """For how long what was found before still counts. What a person told us does not grow old."""

    days: float = 7.0

    def holds(self, passage: SourcePassage, question: str, now: datetime) -> bool:
        if "question" not in passage.metadata and "topic" not in passage.metadata:
            return True
        try:
            found = datetime.fromisoformat(str(passage.metadata.get("timestamp")))
        except ValueError:
            return False
        age = now - (found if found.tzinfo else found.replace(tzinfo=now.tzinfo))
        limit = timedelta(days=self.days)
        return age <= (min(limit, _FRESH_NOW) if about_now(question) else limit)


def find(question: str, among: Sequence[SourcePassage], relevance: Relevance) -> Finding:
    """The sentences that answer a question best, no two saying the same from the same place."""
    words = set(keywords(question))
    told: list[tuple[str, SourcePassage]] = []
    for passage in among:
        pieces = [passage.text.strip()] if passage.source.kind == MEMORY else sentences(passage.text)
        title = set(stems(passage.source.title))
        told += [
            (piece, passage)
            for piece in pieces
            if piece and words & (set(stems(piece)) | title) and _names_its_codes(question, piece, passage)
        ]
    if not told:
        return Finding(question)
    scores = relevance.scores(
        question, [piece for piece, _ in told], about=[passage.source.title for _, passage in told]
    )
    ranked = sorted(zip(scores, range(len(told)), strict=True), key=lambda each: (-each[0], each[1]))
    best = ranked[0][0]
    quotes: list[Quote] = []
    for score, at in ranked:
        piece, passage = told[at]
        if len(quotes) == MOST_QUOTES or score < best * _NEAR_BEST or score <= 0:
            break
        if all(_differs(piece, passage, quote) for quote in quotes):
            quotes.append(Quote(_narrowed(question, piece, relevance), passage.source, score))
    return Finding(question, tuple(quotes), answered=best >= ANSWERS)


def _narrowed(question: str, text: str, relevance: Relevance) -> str:
    """The lines of a memory that answer: one that was kept for several questions holds more than is asked."""
    lines = [line for line in text.split("\n") if line.strip()]
    scores = relevance.scores(question, lines) if len(lines) > 1 else [0.0]
    least = max(ANSWERS, max(scores) * _NEAR_BEST)
    return "\n".join(line for line, score in zip(lines, scores, strict=False) if score >= least) or text


def find_by_meaning(question: str, among: Sequence[SourcePassage], relevance: Relevance) -> Finding:
    """The one memory that comes nearest, though it may share no word with the question.

    Two models judge it, each on its own: the search by how alike the two texts are, the reranker by how well
    the one answers the other. A name that is asked about must stand in it.
    """
    names = names_in(question)
    told = [each for each in among if names <= set(stems(each.text))]
    odds = relevance.odds(question, [each.text for each in told])
    alike = [2 * each.score for each in told]
    rated = [
        (odd + WEIGHT * like, like, odd, at) for at, (odd, like) in enumerate(zip(odds, alike, strict=False))
    ]
    best = max(rated, default=None)
    if best is None or best[0] < NEARLY or best[1] < ALIKE:
        return Finding(question)
    passage = told[best[3]]
    surely = best[1] >= SURELY_ALIKE and best[2] > 0
    quote = Quote(passage.text.strip(), passage.source, min(1.0, best[1]))
    return Finding(question, (quote,), answered=surely)


def find_in_library(
    question: str, among: Sequence[SourcePassage], relevance: Relevance, *, least: float = READS
) -> Finding:
    """What the passages say that the library itself rates relevant; it has read them in their context.

    A sentence of theirs need not repeat what the heading above it names.
    """
    read = [each for each in among if each.score >= least or _says_it_all(question, each, relevance)]
    read = _on_the_subject(question, read, among)
    rated = sorted(read, key=lambda each: -each.score)
    near = [each for each in rated if each.score >= rated[0].score * _NEAR_BEST][:MOST_QUOTES]
    quotes = [quote for each in near if (quote := _excerpt(question, each, relevance)) is not None]
    return Finding(question, tuple(quotes), answered=bool(quotes))


def _on_the_subject(
    question: str, read: Sequence[SourcePassage], among: Sequence[SourcePassage]
) -> list[SourcePassage]:
    """Without what shares no word with the question, where another passage near by holds its words."""
    asked = set(keywords(question))
    shared = {id(each): len(asked.intersection(stems(f"{each.source.detail} {each.text}"))) for each in among}
    most = max(shared.values(), default=0)
    kept = [each for each in read if most < 2 or shared[id(each)]]
    near = [each for each in among if shared[id(each)] == most and each.score >= NEAR]
    return kept if kept or not read else near


def _says_it_all(question: str, passage: SourcePassage, relevance: Relevance) -> bool:
    """Whether one sentence holds every word that carries the question, and answers it by itself."""
    if relevance.reranker is None:  # words alone do not say that something answers
        return False
    words = set(keywords(question))
    whole = [piece for piece in sentences(passage.text) if words <= set(stems(piece))]
    return len(words) > 1 and max(relevance.scores(question, whole), default=0.0) >= ANSWERS


def find_opening(question: str, among: Sequence[SourcePassage]) -> Finding:
    """How each of these texts begins, for who asked about the text itself."""
    quotes = [
        Quote(" ".join(opening), each.source, 1.0)
        for each in among
        if (opening := sentences(each.text)[:MOST_QUOTES])
    ]
    return Finding(question, tuple(quotes), answered=bool(quotes))


def _names_its_codes(question: str, piece: str, passage: SourcePassage) -> bool:
    """Whether the codes that are asked about stand in it, or in what its document or section is called."""
    known = codes_in(f"{piece} {passage.source.title} {passage.source.detail or ''}")
    return codes_in(question) <= known


def _excerpt(question: str, passage: SourcePassage, relevance: Relevance) -> Quote | None:
    """The sentence of a passage that says most to a question, with what follows it as far as it explains."""
    every = [piece for piece in sentences(passage.text) if _names_its_codes(question, piece, passage)]
    if not every:
        return None
    asked = set(keywords(question))
    shared = [len(asked.intersection(stems(piece))) for piece in every]
    pieces = [piece for piece, count in zip(every, shared, strict=True) if count >= max(shared) - 1]
    heading = passage.source.detail or passage.source.title
    scores = relevance.within(question, pieces, heading=heading)
    best = max(range(len(pieces)), key=lambda at: (scores[at], -at))
    told = pieces[best]
    beside = "" if may_answer(question, told) else _that_may_answer(question, told, every)
    if beside:
        return Quote(beside, passage.source, passage.score)
    for at, piece in enumerate(pieces[best + 1 :], best + 1):
        answers_too = scores[at] >= scores[best] * _NEAR_BEST
        if not (told.endswith(":") or answers_too) or len(told) + len(piece) > _EXCERPT:
            break
        told = f"{told} {piece}"
    return Quote(told, passage.source, passage.score)


def _that_may_answer(question: str, told: str, pieces: Sequence[str]) -> str:
    """The sentence that can hold what is asked for, where the one that shares most words cannot.

    It shares a word with the question, or goes on with what was told: "The key opens both. It hangs …".
    """
    asked = set(keywords(question))
    able = [piece for piece in pieces if may_answer(question, piece)]
    shared = [len(asked.intersection(stems(piece))) for piece in able]
    if max(shared, default=0):
        return able[shared.index(max(shared))]
    following = pieces[pieces.index(told) + 1 :][:1]
    return " ".join([told, *following]) if following and following[0] in able else ""


def _differs(piece: str, passage: SourcePassage, quote: Quote) -> bool:
    """Another site may say the same: that is agreement. The same site saying it twice is not."""
    if host_of(passage.source) != host_of(quote.source):
        return True
    mine, theirs = set(stems(piece)), set(stems(quote.text))
    return len(mine & theirs) < 0.6 * max(1, min(len(mine), len(theirs)))


@dataclass(frozen=True, slots=True)
class Composed:
    text: str
    kept: str  # what is worth remembering of it: the statements alone
    sources: tuple[Source, ...]


def compose(findings: Sequence[Finding]) -> Composed:
    """One text for all questions, with numbered sources under it."""
    sources: list[Source] = []
    blocks: list[str] = []
    kept: list[str] = []
    several = len(findings) > 1
    for finding in findings:
        heading = f"{finding.question}\n" if several else ""
        if not finding.answered:
            blocks.append(f"{heading}I found nothing that answers this.")
            continue
        name = agreed_name(finding.question, _texts_of_the_web(finding))
        lines = [] if name is None else [f"{name}."]
        for quote in finding.quotes:
            if quote.source not in sources:
                sources.append(quote.source)
            lines.append(f"{_quoted(quote)} [{sources.index(quote.source) + 1}]")
        kept += [quote.text for quote in finding.quotes]
        blocks.append(heading + "\n".join(lines))
    listed = "\n".join(f"[{number}] {cited(source)}" for number, source in enumerate(sources, 1))
    text = "\n\n".join([*blocks, *([listed] if listed else [])])
    return Composed(text=text, kept="\n".join(dict.fromkeys(kept)), sources=tuple(sources))


def _texts_of_the_web(finding: Finding) -> list[str]:
    """What different sites say; a memory holds several lines, and agrees with itself."""
    by_host = {host_of(each.source): each.text for each in finding.quotes if each.source.kind == WEB}
    return list(by_host.values())


def _quoted(quote: Quote) -> str:
    if quote.source.kind == MEMORY:
        kind = "Based on prior research" if quote.source.detail else "From memory,"
        when = f" stored on {quote.source.date}" if quote.source.date else ""
        return f"{kind}{when}: “{quote.text}”"
    return f"“{quote.text}”"


def cited(source: Source) -> str:
    when = f", {source.date}" if source.date else ""
    if source.kind == MEMORY:
        stored = f"{source.title} ({source.location}{when})"
        return f"{stored}: {source.detail}" if source.detail else stored
    where = f", {source.detail}" if source.detail else ""
    return f"{source.title}, {source.location}{where}{when}"
