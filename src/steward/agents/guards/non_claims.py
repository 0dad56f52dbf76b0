"""How an answer sounds that claims nothing: it asks, denies, lists, offers or is merely polite.

For turns in which nothing was changed. There a sentence has to show that it claims nothing; that is safer
than to show that it claims something, because there is no end to the ways of claiming.
"""

from steward.agents.guards.claims import is_denial
from steward.agents.guards.grounding import Ground
from steward.agents.guards.sentences import HOLE, Sentence
from steward.agents.guards.vocabulary import BASIC, COURTESY
from steward.contract import linear_re as re

# Patterns in which a space stands for any white space.
_OPENINGS = (
    "ok(?:ay)?|sure(?: thing)?|sorry|unfortunately|hmm|oh|alright|of course|no problem|got it|thanks|right",
    "great|well|understood|hello|hi|hey|yes|no|yep|nope|(?:just )?to (?:confirm|be sure|check)",
    "it (?:looks|seems) (?:like|that)|looks like|but|however|so|and|also|currently|right now|at the moment",
    "in total|overall|so far|good (?:morning|afternoon|evening)|before (?:i|that)\\b[^,]*",
)
_THAT = "(?:that|this|the)(?: task| one| title| date| name)?"
_FORMS = (
    "i (?:found|find|see|saw|left|kept|need|can|could|couldn't|cannot|can't|don't|do not|didn't|did not)",
    "i (?:haven't|have not|wasn't|am not|am unable|am afraid|looked|checked|keep|help|manage|know)",
    "i (?:only (?:found|see|need|know)|would (?:need|start|suggest)|have (?:found|two|several)|suggest)",
    "i'm (?:not|unable|sorry|having|afraid|a|an|your|here|happy|glad|steward's)",
    "i'll (?:need|wait|keep|leave|be)",
    "i'd (?:need|be|like|start|suggest|recommend|say)|i've (?:found|looked|checked|not|only)",
    "there(?:'s| is| are| isn't| aren't| was no| were no)|here(?:'s| is| are)",
    "you (?:have|don't|do not|can|could|may|currently have|still have|only have)",
    "you're (?:welcome|all caught up)|you'll (?:need|have to)",
    "please|let me know|feel free|tell me|just (?:say|tell|let)|could|can|which|what|how|when",
    "do|did|does|are|is|would|should|shall|no (?:tasks?|match\\w*|such|other)|none|nothing|one of",
    f"{_THAT} (?:is (?:already|still|not|too)|isn't|doesn't|does not|cannot|has not|hasn't|may|might)",
    f"{_THAT} (?:was already|didn't|did not|couldn't|could not|can't|wasn't|was not)",
    f"your (?:current |open |next )?(?:tasks?|list)(?=\\W*$| (?:are|is)\\W*$| is {HOLE}| (?:due|for) )",
    "your (?:to-?do )?list is (?:currently )?empty|something went wrong",
    "it (?:didn't|did not|isn't|is not|wasn't|was not|couldn't|can't|cannot|hasn't|is still)",
    "this will (?:permanently|delete|remove|be)|deleting|once you|if you|to (?:add|delete|complete|change)",
    "(?:two|three|four|five|six|several|multiple|both|\\d+) (?:of|tasks?|open|completed|matching|are|items?)",
    "overdue|open|completed?|due|today|tomorrow|(?:high|medium|low) priority|pending|done|finished",
)


def _any(patterns: tuple[str, ...]) -> str:
    return "|".join(patterns).replace(" ", r"\s+")


_CANDID = re.compile(rf"^\W*(?:(?:{_any(_OPENINGS)})[\s,:!.]+)*(?:{_any(_FORMS)})(?!\w)")
_NOT_DONE = re.compile(r"(?:\bnot|n't)\s+(?:yet\s+)?(?:been\s+|be\s+)?(?:\w+ly\s+)?\w+(?:ed|ne|ut|et)\b")
_AS_IT_WAS = re.compile(
    r"\b(?:still|remains?|stays?|currently|due|open|pending|on\s+your\s+list|in\s+your\s+tasks)\b"
)


def claims_nothing(sentence: Sentence, ground: Ground) -> bool:
    """Whether a sentence without any claim in it fits a turn in which nothing was changed."""
    if sentence.question or sentence.item or _CANDID.match(sentence.plain):
        return True
    spoken = ground.spoken_of(sentence)
    if is_denial(sentence) and (not spoken or _NOT_DONE.search(sentence.plain)):
        return True
    if (
        spoken
        and all(task.get("id") not in ground.gone for task in spoken)
        and _AS_IT_WAS.search(sentence.plain)
    ):
        return True  # says how a task is; that it is so was checked
    return not sentence.quotes and set(sentence.words) <= COURTESY


def is_foreign(sentence: Sentence, ground: Ground) -> bool:
    """Whether a sentence cannot be read here: too little of it is English, or anybody's words before."""
    if sentence.quotes:
        return False
    words = [word for word in sentence.words if not word.isdigit()]
    known = sum(1 for word in words if word in BASIC or word in COURTESY)
    if len(words) < 2:
        return any(not word.isascii() for word in words)
    return known * 4 < len(words) and not ground.spoken_of(sentence)
