"""What kind of thing a question wants, and whether a text can hold one: a figure, a time, a place. Pure."""

from steward.contract import linear_re as re

_I = re.IGNORECASE
_TENS = (
    "ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
)
_FIGURE = rf"(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|{_TENS}|half|dozen|hundred|thousand)\b)"
_MEASURES = (
    r"pounds?|dollars?|euros?|pence|p|cents?|gbp|eur|usd|chf|kilos?|kg|g|mg|grams?|ml|cl|l|litres?|"
    r"liters?|tbsp|tsp|"
    r"spoons?|cups?|percent|seconds?|minutes?|hours?|days?|weeks?|months?|years?|miles?|km|cm|mm|m|"
    r"metres?|meters?"
)
_KINDS = (
    (
        re.compile(
            r"^(?:and |so )?(?:how much|what (?:does|do|did|will) .+ cost|what(?:'s|"
            r" is) the (?:price|cost))",
            _I,
        ),
        re.compile(rf"[£$€%]|{_FIGURE}[\d,.]*[\s-]*(?:{_MEASURES})\b", _I),
    ),
    (
        re.compile(
            r"^(?:and |so )?(?:how (?:many|long|old|far|often)|when|(?:at |on )?what (?:time|"
            r"day|date))\b",
            _I,
        ),
        re.compile(
            rf"{_FIGURE}|\b(?:daily|weekly|monthly|yearly|every|mon|tues|wednes|thurs|fri|satur|"
            rf"sun)(?:day)?s?\b|"
            r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|"
            r"spring|summer|autumn|winter|noon|midnight|always|never|once|twice)\b",
            _I,
        ),
    ),
    (
        re.compile(r"^(?:and |so )?(?:where\b|(?:in|on|at|from|to|under|behind) (?:what|which)\b)", _I),
        re.compile(
            r"\b(?:in|inside|into|at|on|onto|under|underneath|behind|beside|by|near|next to|above|below|"
            r"between|beneath|among|against|opposite|outside|around|along|across|from|to|towards|through|beyond|upstairs|"
            r"downstairs|abroad|online|here|there|everywhere|nowhere)\b|@|\bwww\b|://",
            _I,
        ),
    ),
)


def may_answer(question: str, text: str) -> bool:
    """Whether a text holds the kind of thing that is asked for; any text may answer what asks for no kind."""
    wanted = next((kind for asks, kind in _KINDS if asks.match(question)), None)
    return wanted is None or wanted.search(text) is not None
