"""Manners without a language model: a procedure for the planner.

It answers a greeting as one, and says what it can do, or that it cannot read what was said.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from steward.agents.assistant.builtin_reader import SOLE
from steward.agents.assistant.languages import other_language
from steward.agents.assistant.personal_facts import asks_about_self, asks_about_us
from steward.agents.researcher.questions import asks_what
from steward.contract import linear_re as re
from steward.language.acts import ReadActs
from steward.language.by_name import begins_with_name
from steward.language.reading import ToolJudge
from steward.language.repairs import withdrawn
from steward.language.thresholds import DEFAULT
from steward.models.planner.decisions import Decision, Tell
from steward.models.planner.dialogue import Dialogue
from steward.models.planner.ranking import KnownTool, Scored, can_look_up
from steward.models.planner.words import asks_ability, is_cancel, is_help

MANNERS, TASK_MANNERS = "manners", "task-manners"
_HELLO = (
    r"(?:hi|hey|hello|howdy|greetings|good (?:morning|afternoon|evening|day))"
    r"(?:,? (?:there|steward|again|all))?"
)
_GREETED = re.compile(rf"^{_HELLO}[\s,!.]+", re.IGNORECASE)
_BARE_ANSWER = re.compile(
    r"^(?:yes|yeah|yep|no|nope|ok|okay|sure|fine|great|cool|right|i see|never ?mind)(?: please| thanks)?\W*$",
    re.IGNORECASE,
)
_KEPT = (
    r"(?:all )?(?:of )?(?:my|our|the) (?:tasks|to-?dos|reminders|facts|memories|data|documents|"
    r"conversations|chats|information)"
)
WHAT_I_AM = "I'm Steward, a program: no human, and here without a language model."
_SAID = (
    (_BARE_ANSWER, "All right."),
    (re.compile(rf"^{_HELLO}[\s,!.]*(?:how are you(?: doing)?(?: today)?\??)?$", re.IGNORECASE), "Hello!"),
    (
        re.compile(
            r"^(?:ok(?:ay)?,? |great,? )?(?:thanks?(?: you)?|thx|ta|cheers|much appreciated)\b"
            r"[^?.!;]{0,60}[.!]*$",
            re.IGNORECASE,
        ),
        "You're welcome.",
    ),
    (
        re.compile(r"^(?:how are you(?: doing)?(?: today)?|how'?s it going|what'?s up)\W*$", re.IGNORECASE),
        "I'm ready.",
    ),
    (re.compile(r"^(?:bye|goodbye|see you(?: later| soon)?|good ?night)\W*$", re.IGNORECASE), "Goodbye!"),
    (
        re.compile(
            r"^(?:who|what) are you\W*$|"
            r"^are you (?:an? )?(?:human|real|robot|bot|person|ai|machine|alive)\b"
            r"[^,;]{0,40}$|^what(?:'s| is) your name\W*$",
            re.IGNORECASE,
        ),
        WHAT_I_AM,
    ),
    (
        re.compile(
            rf"^where (?:(?:are|is) {_KEPT} (?:stored|kept|saved)|"
            rf"(?:do you|does steward) (?:store|keep|save) {_KEPT})\W*$",
            re.IGNORECASE,
        ),
        (
            "In Steward's own database: in its home on this machine, unless DATABASE_URL names another one. "
            "“steward doctor” shows which."
        ),
    ),
    (re.compile(r"^(?:nice|good|pleased) to meet you\W*$", re.IGNORECASE), "Likewise."),
)
# What the house does itself, by the names that the lexicon of abilities has for it.
_OF_THE_HOUSE = (
    "file_reading",
    "document_search",
    "remembered_information",
    "task_management",
    "current_time",
    "calculation",
    "code_execution",
)
ORDERED = 0.9  # how surely another's tool is meant by what sounds like talk
OFFER = "What can I do for you? Ask “what can you do?” to see it all."


@dataclass(frozen=True, slots=True)
class Manners:
    """Implements the planner's `Procedure`."""

    offer: str = OFFER  # what follows the courtesy: what one can do here
    abilities: Callable[[Sequence[str]], str] | None = None  # in which words all of it is told
    acts: ReadActs | None = None  # knows conversation by its meaning
    judge: ToolJudge | None = None  # and this one, whether a tool is meant all the same: "the bins are out"
    is_about: Callable[[str, str], bool] = lambda _, __: False  # knows an ability by its name

    def decide(
        self,
        dialogue: Dialogue,
        tools: Sequence[KnownTool],
        *,
        ranked: Sequence[Scored],  # noqa: ARG002 - the interface's
        now: datetime,  # noqa: ARG002
    ) -> Decision | None:
        asks = is_help(dialogue.utterance) or asks_for_ours(dialogue.utterance, self.is_about)
        if self.abilities is not None and asks:
            return Tell(text=self.abilities([tool.name for tool in tools]), confidence=1.0)
        unread = unreadable(dialogue.utterance)
        if unread:
            return Tell(text=unread)
        said = small_talk(dialogue.utterance) or self._remark(dialogue, tools)
        if said is None or (dialogue.asked and _answers(dialogue.utterance)):
            return None
        return Tell(text=f"{said} {self.offer}", confidence=1.0)

    def _remark(self, dialogue: Dialogue, tools: Sequence[KnownTool]) -> str | None:
        """What to say to who only says something, where neither a tool nor an open question is meant."""
        said = dialogue.utterance
        if dialogue.steps or dialogue.asked or not any(map(str.isalpha, said)):
            return None
        if asks_what(said) or asks_about_self(said):
            return None  # it has an answer, or an admission that there is none
        if self.acts is None or not self.acts(said).only_talks or self._means_tool(said, tools):
            return None
        return WHAT_I_AM if asks_about_us(said) else "I see."

    def _means_tool(self, said: str, tools: Sequence[KnownTool]) -> bool:
        if any(begins_with_name(said, tool.name) for tool in tools):
            return True
        if self.judge is None:
            return False
        able = [tool for tool in tools if tool.name not in SOLE and not can_look_up(tool)]
        fits = self.judge.fits(said, [tool.readable for tool in able])
        # Who orders something of another's tool says so; a task or a fact is often only told.
        surely = self.acts is not None and self.acts(said).talk >= DEFAULT.surely_talk
        own = [tool.name for tool in able if not tool.is_brought]
        brought = [] if surely else [tool.name for tool in able if tool.is_brought]
        return any(fits.get(name, 0.0) >= DEFAULT.judged_of_many for name in own) or any(
            fits.get(name, 0.0) >= ORDERED for name in brought
        )


def asks_for_ours(text: str, is_about: Callable[[str, str], bool]) -> bool:
    """Whether somebody asks if something can be done that the house does: "can you read PDFs?"."""
    return asks_ability(text) and any(is_about(text, ability) for ability in _OF_THE_HOUSE)


def unreadable(text: str) -> str | None:
    """What to answer to something that is in no words, or in none that are read here."""
    if not any(letter.isalnum() for letter in text):
        return "Please say it in words. Ask “what can you do?” to see what I can do."
    language = other_language(text)
    if language is None:
        return None
    return (
        f"That looks like {language}. Without a language model I understand English only. "
        "Please say it in English, or set STEWARD_MODEL to a language model."
    )


def _answers(text: str) -> bool:
    """Whether it may be the answer to a question."""
    return _BARE_ANSWER.match(text) is not None or is_cancel(text)


def small_talk(text: str) -> str | None:
    """What to answer where somebody only makes conversation."""
    said = " ".join(text.split())
    if is_cancel(said):
        return "All right."
    if withdrawn(said):
        return "All right, I did nothing."
    parts = dict.fromkeys((said, _GREETED.sub("", said)))
    return next((answer for part in parts for pattern, answer in _SAID if pattern.match(part)), None)
