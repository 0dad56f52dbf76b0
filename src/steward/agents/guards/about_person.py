"""For any agent: nothing is said about the person that nobody told and no tool returned.

Owns the check of what an answer claims to know of the person ("your wife is called Ana", "you live in Oslo")
against what they said in this conversation and what memory, documents and tools returned in it. A claim whose
telling words stand nowhere is left out, and that is said. What the agent did is checked elsewhere (`truth`).
"""

from collections.abc import Iterable
from dataclasses import replace

from steward.agents.assistant.personal_facts import asks_about_self
from steward.agents.guards.base import Lenient
from steward.agents.guards.sentences import Sentence, sentences, words_of
from steward.agents.profile import Draft
from steward.agents.session import AgentSession
from steward.agents.turn.ledger import Ledger
from steward.agents.turn.results import as_text
from steward.contract import linear_re as re
from steward.contract.stems import english_stem
from steward.conversations.model import AnswerStatus, CallStatus

UNKNOWN = "I do not know that about you: nothing you told me and nothing I looked up says so."
LEFT_OUT = "(I left out what I said about you: nothing you told me and nothing I looked up says so.)"
_OURS = (AnswerStatus.PENDING_APPROVAL, AnswerStatus.FAILED)  # these words are ours, not a model's
_I = re.IGNORECASE
# What is said of somebody: theirs, or what they are, have, like, do and did. What they can or should do is
# advice.
_OF_YOU = re.compile(
    r"\b(?:your|yours)\b|"
    r"\byou(?:'re|'ve| are| were| have| had| live| lived| work| worked| like| love| prefer| hate| "
    r"own| told| said| mentioned|"
    r" asked me to remember| were born| grew| study| studied| drive| speak| usually| always| often| "
    r"never| moved| bought|"
    r" met| married| parked| left| keep| kept| take| took| play| played| went| use| used| also)\b",
    _I,
)
_ADVICE = re.compile(
    r"\b(?:if|when|unless|whether) you\b|\byou (?:can|could|should|may|might|must|will|would|want|need)\b|"
    r"\b(?:would|do|did|could|can|are|have|should) you\b|"
    r"\b(?:let me know|tell me|please|thank you|you(?:'re| are) welcome)\b|"
    r"\b(?:i|we) (?:do not|don't|did not|didn't|cannot|can't|could not|couldn't|have no|found "
    r"no(?:thing)?|know nothing)\b",
    _I,
)
_WORDS = """a an the this that these those some any all and or but so then than as of in on at to for from
        by with about into
        is are was were be been am do does did have has had i me my we us our you your yours yourself it
        its he him his she
        her they them their there here what which who when where why how not no yes very really just also
        too as always
        often usually never told said mentioned know remember called named name is it's that's you're
        you've i've here's
        according records memory notes information earlier before already live lives work works like likes
        love prefer own
        task tasks list document documents file answer question help today now sure course well"""
_PLAIN = frozenset(map(english_stem, _WORDS.split()))


class AboutPerson(Lenient):
    """Implements `Rule`: what is claimed of the person has to stand somewhere."""

    def review(self, draft: Draft, *, ledger: Ledger, session: AgentSession) -> Draft:
        if draft.status in _OURS:
            return draft
        claims = [each for each in sentences(draft.text) if not each.question and _speaks_of_you(each)]
        if not claims:
            return draft
        known = _known(ledger, session)
        asked = asks_about_self(session.utterance or "")
        false = [each for each in claims if (_telling(each.text) if asked else _values(each.text)) - known]
        if not false:
            return draft
        # Who asked about themselves gets none of the story that hangs on it: "the practice is in Graz".
        kept = "" if asked else _without(draft.text, false)
        return replace(draft, text=f"{kept}\n\n{LEFT_OUT}" if kept else UNKNOWN)


def _speaks_of_you(sentence: Sentence) -> bool:
    return _OF_YOU.search(sentence.plain) is not None and _ADVICE.search(sentence.plain) is None


def _telling(text: str) -> set[str]:
    """The words that carry a claim."""
    return {stem for word in words_of(text) if (stem := english_stem(word.removesuffix("'s"))) not in _PLAIN}


def _values(text: str) -> set[str]:
    """Names and numbers: what an invented fact hangs on, where nobody asked about themselves."""
    words = re.findall(r"[\w'\u2019-]+", text)
    named = " ".join(word for word in words[1:] if word[:1].isupper() or any(map(str.isdigit, word)))
    return _telling(named)


def _known(ledger: Ledger, session: AgentSession) -> set[str]:
    """Every word that somebody but the model brought into this conversation."""
    return {
        english_stem(word.removesuffix("'s")) for text in _told(ledger, session) for word in words_of(text)
    }


def _told(ledger: Ledger, session: AgentSession) -> Iterable[str]:
    """What the person typed, and what tools returned."""
    yield session.utterance or ""
    yield session.run.said_before
    for record in ledger.everything:
        if record.status is CallStatus.DONE:
            yield as_text(record.data)


def _without(text: str, false: Iterable[Sentence]) -> str:
    """What is left where every line that holds such a sentence loses it; nothing where little is left."""
    kept = text
    for sentence in false:
        bare = sentence.text.strip()
        kept = kept.replace(bare, "") if bare in kept else _without_line(kept, bare)
    kept = "\n".join(" ".join(line.split()) for line in kept.split("\n")).strip(" \n,;:*-")
    return kept if len(words_of(kept)) > 3 else ""


def _without_line(text: str, sentence: str) -> str:
    wanted = set(words_of(sentence))
    return "\n".join(line for line in text.split("\n") if not wanted <= set(words_of(line)))
