"""Takes the courtesy off an utterance: "could you please … for me, thanks" leaves what is asked."""

from steward.contract import linear_re as re
from steward.language.tidy import with_apostrophes

_BEFORE = re.compile(
    r"^(?:\s*(?:(?:yes|yeah|yep|sure)(?=\s*,\s*\w)|please|pls|plz|hey|hi|hello|ok(?:ay)?|kindly|alright|so"
    r"|well|um+|uh+|yo|and|also|oh|now|actually|then|but|alexa|siri|olly"
    r"|steward|assistant|just|go\s+ahead\s+and|can\s+(?:you|u|we|i)|could\s+(?:you|u|we|i)|would\s+(?:you"
    r"|u)(?:\s+(?:mind|be\s+willing\s+to|like\s+to))?"
    r"|will\s+(?:you|u)|i(?:\s+would|'d)?\s+(?:like|want|need|love)(?:\s+for)?\s+(?:you|u)\s+to"
    r"|i(?:\s+would|'d)\s+(?:like|love)\s+to"
    r"|i\s+want\s+to|i\s+wanna|do\s+me\s+a\s+favou?r\s+and|be\s+sure\s+to|make\s+sure\s+to"
    r"|make\s+sure\s+(?:you|that\s+you)|help\s+me|let'?s|let\s+us|may\s+i"
    r"|is\s+it\s+possible\s+(?:for\s+you\s+)?to|i\s+was\s+wondering\s+if\s+you\s+could|hurry\s+up\s+and"
    r"|you\s+can|you\s+could|maybe|perhaps)(?=[\s,:!]|$)[\s,:!]*)+",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"(?:[\s,]+(?:please|pls|plz|thanks(?:\s+a\s+lot)?|thank\s+you(?:\s+very\s+much)?|thx|for\s+me"
    r"|ok(?:ay)?|if\s+you\s+(?:can|could|don'?t\s+mind)"
    r"|when\s+you\s+(?:can|get\s+a\s+chance)|right\s+now|now|will\s+you|would\s+you|as\s+well|too|also"
    r"|at\s+some\s+(?:point|stage)|some\s?time|eventually|one\s+of\s+these\s+days|one\s+day"
    r"|instead|anymore|any\s+more|after\s+all))+[\s.!?]*$",
    re.IGNORECASE,
)


# "… to Sunday as my knee is playing up": why, and nothing that is to be done.
_REASON = re.compile(
    r"[\s,;:\u2013-]*(?:as|because|since|'?cos|cause|given that|seeing that|now that|so that|so)\s+"
    r"(?:(?:i|we|you|he|she|it|they|there|that|this|these|those|my|our|your|his|her|its|their|the|an?)\b|"
    r"(?:i|we|you|he|she|it|they|there)['\u2019])",
    re.IGNORECASE,
)


def gives_a_reason(text: str) -> bool:
    """Whether what is left of a sentence begins to say why."""
    return _REASON.match(text) is not None


def bare(text: str) -> str:
    """The text without politeness at either end."""
    text = with_apostrophes(" ".join(text.split()))
    text = _BEFORE.sub("", text, count=1)
    text = _AFTER.sub("", f" {text}").strip()
    return text.strip(" \t,;")
