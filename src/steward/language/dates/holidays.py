"""Names of holidays and the day each falls on in a year.

Owns the names and the rules of the Gregorian and Easter holidays. Calendars that follow the moon are not
read: who keeps them names the date.
"""

from collections.abc import Callable
from datetime import date, timedelta

from dateutil import easter as computus
from dateutil.easter import EASTER_ORTHODOX

from steward.language.dates.calendar import nth_weekday
from steward.language.dates.reader import Reader

Rule = Callable[[int], date | None]


def fixed(month: int, day: int) -> Rule:
    return lambda year: date(year, month, day)


def nth(month: int, weekday: int, number: int, offset: int = 0) -> Rule:
    def rule(year: int) -> date | None:
        found = nth_weekday(year, month, weekday=weekday, nth=number)
        return found + timedelta(days=offset) if found else None

    return rule


_EASTER_KNOWN = range(1583, 4100)  # as far as dateutil reckons it


def easter(offset: int = 0) -> Rule:
    def rule(year: int) -> date | None:
        return computus.easter(year) + timedelta(days=offset) if year in _EASTER_KNOWN else None

    return rule


def orthodox(offset: int = 0) -> Rule:
    def rule(year: int) -> date | None:
        if year not in _EASTER_KNOWN:
            return None
        return computus.easter(year, EASTER_ORTHODOX) + timedelta(days=offset)

    return rule


def _weekday_near(month: int, day: int) -> Rule:
    """The working day nearest to a date, as Boss's Day has it."""

    def rule(year: int) -> date:
        found = date(year, month, day)
        return found + timedelta(days={5: -1, 6: 1}.get(found.weekday(), 0))

    return rule


def _before(month: int, day: int, weekday: int) -> Rule:
    """The last such weekday before a date: Victoria Day is the Monday before 25 May."""

    def rule(year: int) -> date:
        found = date(year, month, day)
        return found - timedelta(days=(found.weekday() - weekday) % 7 or 7)

    return rule


def _kings_day(year: int) -> date:
    found = date(year, 4, 27)
    return found - timedelta(days=1) if found.weekday() == 6 else found


def _tax_day(year: int) -> date:
    found = date(year, 4, 15)
    return found + timedelta(days={5: 2, 6: 1}.get(found.weekday(), 0))


def _advent(number: int) -> Rule:
    def rule(year: int) -> date:
        christmas = date(year, 12, 25)
        fourth = christmas - timedelta(days=christmas.weekday() + 1)
        return fourth - timedelta(weeks=4 - number)

    return rule


_MON, _TUE, _WED, _THU, _FRI, _SAT, _SUN = range(7)

# Names are lower case without apostrophes; "day" at the end may be left out where the entry says "(day)".
_NAMES: dict[str, Rule] = {
    "new years (day)|new year (day)|nyd": fixed(1, 1),
    "new years eve|new year eve|nye|silvester|hogmanay": fixed(12, 31),
    "epiphany|three kings day|twelfth night": fixed(1, 6),
    "orthodox christmas (day)": fixed(1, 7), "orthodox new year": fixed(1, 14),
    "mlk (day)|mlk jr . day|mlk jr day|martin luther king day|martin luther kings day|civil rights day"
    "|martin luther king jr . day|martin luther king jr day|idaho human rights day": nth(1, _MON, 3),
    "australia day": fixed(1, 26), "groundhog day|ground hog day": fixed(2, 2), "world cancer day": fixed(2,
    4),
    "super bowl sunday": nth(2, _SUN, 2), "lincolns birthday": fixed(2, 12),
    "valentines (day)|valentine (day)|saint valentines day|st valentines day": fixed(2, 14),
    "presidents (day)|president day|washingtons birthday|washingtons day|family day": nth(2, _MON, 3),
    "leap day": lambda year: date(year, 2, 29) if year % 4 == 0 and (year % 100 or year % 400 == 0) else None,
    "st . davids day|saint davids day|st davids day": fixed(3, 1),
    "international womens day|womens day": fixed(3, 8),
    "pi day": fixed(3, 14),
    "st patricks (day)|st . patricks (day)|saint patricks (day)|st paddys (day)|saint paddys (day)|st "
    "patrick day"
    "|st pattys day|saint patrick day|st . paddys day|paddys day|patricks day": fixed(3, 17),
    "world water day": fixed(3, 22), "nowruz|persian new year|navroz": fixed(3, 21),
    "april fools (day)|april fool day|april fool|all fools day": fixed(4, 1),
    "tax day": _tax_day, "earth day": fixed(4, 22),
    "st georges day|saint georges day|st . georges day": fixed(4, 23),
    "anzac day": fixed(4, 25), "koningsdag|kings day|dutch kings day": _kings_day,
    "administrative professionals day|secretaries day|admin day|secretarys day": nth(4, _SAT, -1, -3),
    "arbor day": nth(4, _FRI, -1), "take our daughters and sons to work day": nth(4, _THU, 4),
    "walpurgis night": fixed(4, 30),
    "may day|international workers day|workers day|labour day uk": fixed(5, 1), "star wars day": fixed(5, 4),
    "cinco de mayo": fixed(5, 5), "ve day": fixed(5, 8), "europe day": fixed(5, 9),
    "rabindra jayanti|rabindranath jayanti": lambda year: date(year, 5, 9),
    "mothers (day)|mother day|mothering day": nth(5, _SUN, 2), "mothering sunday": easter(-21),
    "victoria day|sovereigns birthday": _before(5, 25, _MON), "armed forces day": nth(5, _SAT, 3),
    "memorial day|decoration day": nth(5, _MON, -1), "spring bank holiday": nth(5, _MON, -1),
    "early may bank holiday": nth(5, _MON, 1), "summer bank holiday|august bank holiday": nth(8, _MON, -1),
    "world environment day": fixed(6, 5), "d day": fixed(6, 6), "flag day": fixed(6, 14),
    "juneteenth": fixed(6, 19),
    "fathers (day)|father day": nth(6, _SUN, 3), "midsummer (day)": fixed(6, 24), "canada day": fixed(7, 1),
    "independence day|fourth of july": fixed(7, 4), "bastille day": fixed(7, 14),
    "parents day": nth(7, _SUN, 4), "friendship day": nth(8, _SUN, 1), "civic holiday": nth(8, _MON, 1),
    "assumption (day)": fixed(8, 15), "indian independence day": fixed(8, 15),
    "womens equality day": fixed(8, 26),
    "labor (day)|labour (day)": nth(9, _MON, 1), "grandparents day": nth(9, _SUN, 1, 7),
    "patriot day": fixed(9, 11), "constitution day|citizenship day": fixed(9, 17),
    "talk like a pirate day": fixed(9, 19), "oktoberfest": nth(9, _SAT, 3), "gandhi jayanti": fixed(10, 2),
    "columbus day|indigenous peoples day": nth(10, _MON, 2), "canadian thanksgiving (day)": nth(10, _MON, 2),
    "bosss (day)|boss day|bosses day|boss ' day": _weekday_near(10, 16), "sweetest day": nth(10, _SAT, 3),
    "united nations day|un day": fixed(10, 24),
    "halloween (day)|hallowe ' en|all hallows eve|haloween": fixed(10, 31),
    "all saints (day)": fixed(11, 1), "world vegan day": fixed(11, 1),
    "all souls (day)|day of the dead": fixed(11, 2),
    "guy fawkes (night)|bonfire night|guy fawkes day": fixed(11, 5),
    "veterans day|veteran day|armistice day|remembrance day|poppy day": fixed(11, 11),
    "remembrance sunday": nth(11, _SUN, 2), "singles day": fixed(11, 11), "childrens day india": fixed(11,
    14),
    "thanksgiving (day)|turkey day|thanks giving (day)": nth(11, _THU, 4),
    "black friday": nth(11, _THU, 4, 1), "small business saturday": nth(11, _THU, 4, 2),
    "cyber monday": nth(11, _THU, 4, 4), "giving tuesday": nth(11, _THU, 4, 5),
    "election day": nth(11, _MON, 1, 1), "st . andrews day|st andrews day|saint andrews day": fixed(11, 30),
    "advent|first sunday of advent|first advent": _advent(1), "world aids day": fixed(12, 1),
    "st nicholas day|saint nicholas day|nikolaus": fixed(12, 6), "pearl harbor day": fixed(12, 7),
    "human rights day": fixed(12, 10), "st lucias day|saint lucia": fixed(12, 13),
    "christmas eve|xmas eve|x mas eve|christmas eve day": fixed(12, 24),
    "christmas (day)|xmas (day)|x mas (day)|x - mas (day)|chrismas (day)": fixed(12, 25),
    "boxing day|saint stephens day|st stephens day": fixed(12, 26), "kwanzaa": fixed(12, 26),
    "easter (sunday)|easter (day)": easter(), "easter mon|easter monday": easter(1),
    "good friday|great friday": easter(-2),
    "holy saturday|easter saturday|easter eve|black saturday": easter(-1),
    "maundy thursday|covenant thu|covenant thursday|thu of mysteries|holy thursday|thursday of mysteries"
    "|maundy thu|sheer thursday": easter(-3), "spy wednesday|holy wednesday": easter(-4),
    "palm sunday|branch sunday|passion sunday": easter(-7), "ash wednesday": easter(-46),
    "shrove tuesday|pancake (day)|pancake tuesday|mardi gras|fat tuesday|carnival tuesday": easter(-47),
    "shrove monday|rose monday": easter(-48), "lent": easter(-46),
    "ascension (day)|ascension thursday": easter(39),
    "pentecost (sunday)|whit sunday|white sunday|whitsun|whitsunday": easter(49),
    "whit monday|pentecost monday|monday of the holy spirit": easter(50), "trinity sunday": easter(56),
    "corpus christi": easter(60), "divine mercy sunday": easter(7),
    "orthodox easter (sunday)|orthodox easter (day)|pascha": orthodox(),
    "orthodox easter monday": orthodox(1),
    "orthodox good friday|orthodox great friday": orthodox(-2), "orthodox holy saturday": orthodox(-1),
    "orthodox palm sunday": orthodox(-7), "lazarus saturday": orthodox(-8),
    "orthodox pentecost": orthodox(49),
    "clean monday|orthodox shrove monday|orthodox ash monday|pure monday|green monday": orthodox(-48),
}  # fmt: skip


def _expand(names: dict[str, Rule]) -> dict[str, list[tuple[tuple[str, ...], Rule]]]:
    table: dict[str, list[tuple[tuple[str, ...], Rule]]] = {}
    for spellings, rule in names.items():
        for spelling in spellings.split("|"):
            words = spelling.replace("(", "").replace(")", "").split()
            forms = [tuple(words)]
            if "(" in spelling:
                forms.append(tuple(words[:-1]))
            for form in forms:
                table.setdefault(form[0], []).append((form, rule))
    for forms in table.values():
        forms.sort(key=lambda form: -len(form[0]))
    return table


_TABLE = _expand(_NAMES)
# Words that are holidays only in company.
_NOT_ALONE = frozenset({("advent",), ("lent",), ("president",), ("presidents",), ("mothers",), ("fathers",),
    ("mother",),
                        ("father",), ("labor",), ("labour",), ("new", "year"), ("pancake",), ("ascension",),
                        ("assumption",), ("valentine",), ("midsummer",), ("mlk",)})  # fmt: skip


def holiday_at(r: Reader, i: int) -> tuple[Rule, int] | None:
    """The longest name of a holiday that stands here."""
    start = i + 1 if r.word(i) == "the" else i
    for form, rule in _TABLE.get(r.word(start), ()):
        if all(r.word(start + k) == word for k, word in enumerate(form)):
            end = start + len(form)
            if form in _NOT_ALONE and r.digits(end) is None:
                continue
            return rule, end
    return None
