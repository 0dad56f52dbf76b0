"""The vocabulary of dates: names, units, numbers, zones, and how people misspell them."""

from steward.language.dates.calendar import Grain


def _table(rows: dict[str, int]) -> dict[str, int]:
    return {word: value for words, value in rows.items() for word in words.split()}


MONTHS = _table({
    "january jan januray janurary": 1, "february feb febuary feburary febraury": 2, "march mar": 3,
    "april apr apirl": 4, "may": 5, "june jun": 6, "july jul": 7, "august aug agust": 8,
    "september sep sept septemeber setpember": 9, "october oct octobre": 10,
    "november nov novemeber": 11, "december dec decmber decemeber": 12,
})  # fmt: skip
WEEKDAYS = _table({
    "monday mon mondays monady": 0, "tuesday tue tues tuesdays tusday teusday tuseday": 1,
    "wednesday wed weds wednesdays wensday wednsday wednesay wendesday": 2,
    "thursday thu thur thurs thursdays thrusday thusday thrsday": 3, "friday fri fridays firday": 4,
    "saturday sat saturdays saterday satuday saturaday": 5, "sunday sun sundays suday": 6,
})  # fmt: skip
# Names that are also everyday words: alone they are dates only where a preposition says so.
DOUBTFUL_NAMES = frozenset({"may", "march", "mar", "sat", "sun", "wed", "mon", "dec", "jan", "apr", "jun",
    "april", "june",
                            "august", "jul", "nov", "sep", "oct", "feb", "aug"})  # fmt: skip
SPOKEN_UNITS: dict[str, Grain] = {
    word: grain
    for words, grain in {
        "second seconds sec secs": Grain.SECOND, "minute minutes min mins minuts mintues": Grain.MINUTE,
        "hour hours hr hrs h": Grain.HOUR, "day days dayz": Grain.DAY, "week weeks wk wks": Grain.WEEK,
        "month months mth mths": Grain.MONTH, "quarter quarters qtr qtrs": Grain.QUARTER,
        "year years yr yrs": Grain.YEAR,
    }.items()
    for word in words.split()
}  # fmt: skip
# Units that hold several of a smaller one.
MULTIPLE_UNITS = {
    "fortnight": (Grain.DAY, 14), "fortnights": (Grain.DAY, 14), "decade": (Grain.YEAR, 10),
    "decades": (Grain.YEAR, 10), "century": (Grain.YEAR, 100), "centuries": (Grain.YEAR, 100),
}  # fmt: skip
# Letters that stand for a unit only right after a number: "in 2h", "in 15m", "3d ago".
SHORT_UNITS = {
    "h": Grain.HOUR, "m": Grain.MINUTE, "s": Grain.SECOND, "d": Grain.DAY, "w": Grain.WEEK, "y": Grain.YEAR,
    "'": Grain.MINUTE, '"': Grain.SECOND, "\u2032": Grain.MINUTE, "\u2033": Grain.SECOND,
    "\u2019": Grain.MINUTE,
}  # fmt: skip

ONES = {word: n for n, word in enumerate(
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen"])}  # fmt: skip
TENS = {
    word: 10 * n
    for n, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2
    )
}
TENS["fourty"] = 40
ORDINALS = {word: n for n, word in enumerate(
    ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth",
    "eighteenth", "nineteenth", "twentieth"], 1)}  # fmt: skip
ORDINALS["thirtieth"] = 30
FEW = {"couple": 2, "pair": 2, "few": 3, "several": 3}

NEXT = frozenset({"next", "following", "coming", "upcoming", "nxt", "comming"})
LAST = frozenset({"last", "past", "previous", "prior"})
THIS = frozenset({"this", "current", "ths"})

TODAY = {
    "today": 0, "todays": 0, "tomorrow": 1, "tomorrows": 1, "tomorow": 1, "tommorow": 1, "tommorrow": 1,
    "tomorro": 1, "tmrw": 1, "tmr": 1, "tmrow": 1, "2moro": 1, "tomoz": 1, "tmo": 1, "tmw": 1, "toda": 0,
    "tody": 0, "yesterday": -1, "yesterdays": -1, "yest": -1, "yesterdy": -1, "yday": -1, "2day": 0,
    "tomm": 1, "tomrrow": 1, "tomorrrow": 1, "morrow": 1,
}  # fmt: skip

# Part of the day: (first hour, last hour exclusive).
PARTS = {
    "morning": (8, 12), "mornings": (8, 12), "afternoon": (12, 17), "afternoons": (12, 17),
    "evening": (18, 21), "evenings": (18, 21), "night": (20, 24), "nights": (20, 24), "tonight": (20, 24),
    "lunch": (12, 14), "lunchtime": (12, 14), "breakfast": (8, 10), "dinnertime": (18, 20), "dinner": (18,
    20),
    "dawn": (5, 7), "sunrise": (6, 7), "dusk": (19, 20), "sunset": (19, 20), "bedtime": (22, 23),
    "morn": (8, 12),
    "daytime": (8, 18), "nighttime": (20, 24), "overnight": (22, 24), "tonite": (20, 24), "tonights": (20,
    24),
    "2nite": (20, 24), "brunch": (10, 12), "aft": (12, 17),
}  # fmt: skip
# The same as plain words for the meaning of an hour near them: which half of the day.
MORNING = frozenset({"morning", "mornings", "breakfast", "dawn", "sunrise", "morn", "brunch"})
NIGHT = frozenset(
    {"night", "nights", "tonight", "nighttime", "overnight", "bedtime", "tonite", "tonights", "2nite"}
)

SEASONS = {"spring": (3, 20), "summer": (6, 21), "autumn": (9, 23), "fall": (9, 23), "winter": (12, 21)}

# Offsets from UTC in minutes; only unambiguous or overwhelmingly usual abbreviations.
ZONES = {
    "utc": 0, "gmt": 0, "z": 0, "bst": 60, "wet": 0, "west": 60, "cet": 60, "cest": 120, "eet": 120,
    "eest": 180,
    "msk": 180, "ist": 330, "jst": 540, "kst": 540, "sgt": 480, "hkt": 480, "aest": 600, "aedt": 660,
    "acst": 570,
    "awst": 480, "nzst": 720, "nzdt": 780, "est": -300, "edt": -240, "cst": -360, "cdt": -300, "mst": -420,
    "mdt": -360, "pst": -480, "pdt": -420, "akst": -540, "akdt": -480, "hst": -600, "brt": -180,
}  # fmt: skip
# Names whose offset depends on the season.
REGIONS = {
    "et": "America/New_York", "eastern": "America/New_York", "ct": "America/Chicago",
    "central": "America/Chicago", "mt": "America/Denver", "mountain": "America/Denver",
    "pt": "America/Los_Angeles", "pacific": "America/Los_Angeles",
}  # fmt: skip

# After these an hour, a name or an ordinal alone is a date.
PREPOSITIONS = frozenset({
    "at", "on", "by", "before", "until", "till", "til", "after", "since", "from", "for", "due", "during",
    "in",
    "around", "about", "approximately", "of", "this", "next", "last", "every", "each", "through", "thru", "@",
    "untill", "between", "starting", "beginning", "ending", "past", "previous", "coming", "early", "late",
    "mid",
    "to", "deadline", "no", "approx", "circa", "near", "following", "is", "was", "towards", "toward", "into",
})  # fmt: skip
# What may follow a number or an ordinal that is a date, and not the count of something.
FOLLOWERS = frozenset({
    "to", "for", "with", "and", "or", "on", "in", "from", "if", "please", "because", "so", "but", "then",
    "when",
    "about", "by", "is", "was", "i", "we", "my", "the", "at", "that", "it", "its", "instead", "sharp",
    "pls", "plz",
    "since", "as", "until", "till", "after", "before", "today", "tomorrow", "tonight", "via", "will", "would",
    "should", "ill", "im", "he", "she", "they", "you", "thanks", "not", "due", "every", "each", "this",
    "next",
    "has", "have", "had", "are", "were", "be", "also", "too", "can", "could", "lets", "let", "remind", "per",
    "came", "come", "comes", "work", "works", "than", "of", "exactly", "did", "does", "do", "went", "left",
    "where",
    "while", "during", "who", "which", "although", "though", "starting", "onwards", "onward", "latest", "thx",
    "approximately", "ish", "and/or", "ok", "okay", "around", "again", "except", "without", "me", "him",
    "her", "them", "us", "a", "an", "our", "your", "his", "their", "unless", "there", "here", "happened",
    "may",
    "might", "must", "cause", "cuz", "just", "only", "now",
})  # fmt: skip
