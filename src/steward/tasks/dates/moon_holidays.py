"""Names and rules of the holidays that follow the moon: Jewish, Islamic, Chinese, Hindu, Sikh and Buddhist.

Islamic months start by the rule of the Umm al-Qura calendar, Hindu ones by the place of the sun among the
stars. Where people decide by sight or by region the day may differ by one.
"""

from collections.abc import Callable
from datetime import date, timedelta
from functools import lru_cache

from steward.tasks.dates import hebrew
from steward.tasks.dates.moon import (
    day_of,
    lunation_before,
    moment_of,
    moonset_after_sunset,
    new_moon,
    sidereal,
    sun_longitude,
    tithi,
)

Rule = Callable[[int], date | None]
_FIRST, _LAST = 1600, 2400  # beyond these years the formulas drift
_DAY = timedelta(days=1)


def _known(rule: Rule) -> Rule:
    """The rule in the years for which it holds, remembered."""

    @lru_cache(maxsize=64)
    def checked(year: int) -> date | None:
        return rule(year) if _FIRST <= year <= _LAST else None

    return checked


# --- Jewish ---------------------------------------------------------------------------------------


def _jewish(month: int, day: int, *, offset: int = 0) -> Rule:
    return _known(lambda year: hebrew.eve(year, month, day) + offset * _DAY)


def _moved(month: int, day: int, moves: dict[int, int]) -> Rule:
    """A day that moves away from the Sabbath: how far, by the weekday it would fall on."""

    def rule(year: int) -> date:
        evening = hebrew.eve(year, month, day)
        return evening + moves.get((evening + _DAY).weekday(), 0) * _DAY

    return _known(rule)


# --- Islamic --------------------------------------------------------------------------------------

_SUNSET_IN_MECCA = 15.4  # hours of universal time


def _islamic_month(year: int, month: int) -> date:
    """The first day of a month: the conjunction came before sunset and the moon sets after the sun."""
    lunation = (year - 1420) * 12 + month - 10
    moment = new_moon(lunation)
    day = day_of(moment, offset=3)
    if moment > moment_of(day, _SUNSET_IN_MECCA):
        day += _DAY
    if not moonset_after_sunset(day, latitude=21.4, sunset=_SUNSET_IN_MECCA):
        day += _DAY
    return day + _DAY


def _in_year(year: int, found: Callable[[int], date]) -> date | None:
    """The Islamic year is shorter: the first one whose day falls into the civil year."""
    first = int((year - 622) * 33 / 32) - 1
    days = (found(hijri) for hijri in range(first, first + 4))
    return next((day for day in days if day.year == year), None)


def _islamic(month: int, day: int) -> Rule:
    return _known(lambda year: _in_year(year, lambda hijri: _islamic_month(hijri, month) + (day - 1) * _DAY))


def _last_friday_of_ramadan(year: int) -> date | None:
    def found(hijri: int) -> date:
        last = _islamic_month(hijri, 10) - _DAY
        return last - (last.weekday() - 4) % 7 * _DAY

    return _in_year(year, found)


# --- Chinese --------------------------------------------------------------------------------------

_BEIJING = 8


def _chinese_new_year(year: int) -> date:
    """The first day of the month in which the sun reaches 330 degrees."""
    rains = moment_of(date(year, 2, 17), 0)
    while (sun_longitude(rains) - 330 + 180) % 360 < 180:
        rains += 1 / 24
    lunation = lunation_before(rains) + 1
    while day_of(new_moon(lunation), offset=_BEIJING) > day_of(rains, offset=_BEIJING):
        lunation -= 1
    return day_of(new_moon(lunation), offset=_BEIJING)


def _chinese(month: int, day: int) -> Rule:
    """A day of an early month, before any leap month can come between in most years."""

    def rule(year: int) -> date:
        start = _chinese_new_year(year)
        lunation = lunation_before(moment_of(start, 24 - _BEIJING)) + month - 1
        return day_of(new_moon(lunation), offset=_BEIJING) + (day - 1) * _DAY

    return _known(rule)


def _mid_autumn(year: int) -> date:
    """The 15th of the month in which the sun reaches 180 degrees."""
    equinox = moment_of(date(year, 9, 21), 0)
    while (sun_longitude(equinox) - 180 + 180) % 360 < 180:
        equinox += 1 / 24
    lunation = lunation_before(equinox) + 1
    while day_of(new_moon(lunation), offset=_BEIJING) > day_of(equinox, offset=_BEIJING):
        lunation -= 1
    return day_of(new_moon(lunation), offset=_BEIJING) + 14 * _DAY


# --- Indian ---------------------------------------------------------------------------------------

# Months of the year that count here, from 0; each is named by the sign in which its new moon finds the sun.
_CHAITRA, _VAISHAKHA, _ASHADHA, _SHRAVANA, _BHADRAPADA = 0, 1, 3, 4, 5
_ASHVINA, _KARTIKA, _PAUSHA, _MAGHA, _PHALGUNA = 6, 7, 9, 10, 11
_SUNRISE, _MIDDAY, _AFTERNOON, _EVENING, _MIDNIGHT = 0.75, 6.5, 9.0, 12.75, 18.5  # universal time
_INDIA = 5.5


def _sign(moment: float) -> int:
    return int(sidereal(sun_longitude(moment), moment) // 30)


def _hindu(month: int, lunar_day: int, hour: float, *, offset: int = 0) -> Rule:
    """The day of a lunar month on which the lunar day holds at an hour."""
    sign = (month + 11) % 12

    def rule(year: int) -> date | None:
        lunation = lunation_before(moment_of(date(year, 1, 1), 0)) - 1
        for k in range(lunation, lunation + 15):
            start = new_moon(k)
            if _sign(start) == sign != _sign(new_moon(k + 1)):
                found = _lunar_day(start, lunar_day, hour) + offset * _DAY
                if found.year == year:
                    return found
        return None

    return _known(rule)


def _lunar_day(start: float, lunar_day: int, hour: float) -> date:
    day = day_of(start + (lunar_day - 3) * 0.95, offset=_INDIA)
    for _ in range(8):
        held = tithi(moment_of(day, hour))
        if held == lunar_day or (lunar_day < held < lunar_day + 5):
            return day if held == lunar_day else day - _DAY
        day += _DAY
    return day


def _sun_enters(sign: int, month: int, *, offset: int = 0) -> Rule:
    """The day on which the sun is seen in a sign at the evening: Makar Sankranti, Vaisakhi."""

    def rule(year: int) -> date:
        day = date(year, month, 8)
        while _sign(moment_of(day, _EVENING)) != sign:
            day += _DAY
        return day + offset * _DAY

    return _known(rule)


def _parsi_new_year(year: int) -> date:
    return date(2018, 8, 17) + timedelta(days=365 * (year - 2018))


_FRIDAY, _SATURDAY, _SUNDAY, _MONDAY = 4, 5, 6, 0

MOON_HOLIDAYS: dict[str, Rule] = {
    "rosh hashanah|rosh hashana|jewish new year|rosh ha shanah": _jewish(hebrew.TISHRI, 1),
    "yom kippur|day of atonement": _jewish(hebrew.TISHRI, 10),
    "sukkot|sukkoth|feast of tabernacles|feast of the ingathering|succos": _jewish(hebrew.TISHRI, 15),
    "hoshana rabbah": _jewish(hebrew.TISHRI, 21),
    "shemini atzeret": _jewish(hebrew.TISHRI, 22),
    "simchat torah": _jewish(hebrew.TISHRI, 23),
    "hanukkah|chanukah|hanukah|hannukah|chanukkah|feast of dedication": _jewish(hebrew.KISLEV, 25),
    "tu bishvat|tu bshevat|tu b shvat": _jewish(hebrew.SHEVAT, 15),
    "purim": _jewish(hebrew.ADAR, 14),
    "shushan purim": _jewish(hebrew.ADAR, 15),
    "passover|pesach|pesah": _jewish(hebrew.NISAN, 15),
    "yom hashoah|holocaust day|holocaust remembrance day|yom ha shoah":
        _moved(hebrew.NISAN, 27, {_FRIDAY: -1, _SUNDAY: 1}),
    "yom haatzmaut|yom ha atzmaut|israeli independence day":
        _moved(hebrew.IYAR, 5, {_FRIDAY: -1, _SATURDAY: -2, _MONDAY: 1}),
    "lag bomer|lag b omer|lag baomer": _jewish(hebrew.IYAR, 18),
    "shavuot|shavuoth|feast of weeks": _jewish(hebrew.SIVAN, 6),
    "tisha bav|tisha b av|tish bav": _moved(hebrew.AV, 9, {_SATURDAY: 1}),
    "ramadan|ramadhan|ramzan": _islamic(9, 1),
    "eid al - fitr|eid al fitr|eid ul - fitr|eid ul fitr|id ul - fitr|end of ramadan|eid": _islamic(10, 1),
    "eid al - adha|eid al adha|eid ul - adha|eid ul adha|id ul - adha|id ul adha|sacrifice feast|bakr id"
    "|bakrid|feast of the sacrifice|festival of the sacrifice": _islamic(12, 10),
    "islamic new year|amun jadid|muharram|hijri new year": _islamic(1, 1),
    "day of ashura|ashura": _islamic(1, 10),
    "mawlid|mawlid al - nabawi|mawlid al nabawi|milad un nabi|prophets birthday": _islamic(3, 12),
    "isra and miraj|the prophets ascension|prophets ascension|the night journey|night journey"
    "|ascension to heaven|laylat al miraj|laylat al - miraj": _islamic(7, 27),
    "laylat al - qadr|laylat al qadr|laylat al kadr|laylat al - kadr|night of power|night of measures"
    "|night of destiny": _islamic(9, 27),
    "jamat ul - vida|jamat ul vida|jumuatul - wida|jumuatul wida": _known(_last_friday_of_ramadan),
    "chinese new year|chinese new years|chinese new years day|chinese lunar new years day|lunar new year"
    "|chinese lunar new year|spring festival|chinese new year day|lunar new years day|tet": _chinese(1, 1),
    "lantern festival": _chinese(1, 15),
    "dragon boat festival": _chinese(5, 5),
    "mid autumn festival|mid - autumn festival|mooncake festival": _known(_mid_autumn),
    "ugadi|yugadi|samvatsaradi|chaitra sukladi|chaitra sukhladi|gudi padwa": _hindu(_CHAITRA, 1, _SUNRISE),
    "rama navami|ram navami": _hindu(_CHAITRA, 9, _MIDDAY),
    "mahavir jayanti|mahaveer jayanti|mahaveer janma kalyanak|mahavir janma kalyanak":
        _hindu(_CHAITRA, 13, _SUNRISE),
    "hanuman jayanti": _hindu(_CHAITRA, 15, _SUNRISE),
    "vesak|vaisakha|buddha day|buddha purnima|buddhas birthday|wesak": _hindu(_VAISHAKHA, 15, _EVENING),
    "ratha - yatra|ratha yatra|rath yatra": _hindu(_ASHADHA, 2, _SUNRISE),
    "guru purnima": _hindu(_ASHADHA, 15, _SUNRISE),
    "raksha bandhan|rakhi|raksha bandhan day": _hindu(_SHRAVANA, 15, _AFTERNOON),
    "krishna janmashtami|janmashtami|gokulashtami": _hindu(_SHRAVANA, 23, _MIDNIGHT),
    "ganesh chaturthi|vinayaka chaturthi": _hindu(_BHADRAPADA, 4, _MIDDAY),
    "navaratri|navratri|durga puja": _hindu(_ASHVINA, 1, _SUNRISE),
    "maha saptami": _hindu(_ASHVINA, 7, _SUNRISE),
    "dussehra|vijayadashami|dasara|dashain": _hindu(_ASHVINA, 10, _AFTERNOON),
    "valmiki jayanti|maharishi valmiki jayanti|pargat diwas|sharad purnima": _hindu(_ASHVINA, 15, _EVENING),
    "karva chauth|karwa chauth": _hindu(_ASHVINA, 19, 14.5),
    "dhanteras|dhanatrayodashi": _hindu(_ASHVINA, 28, _EVENING),
    "choti diwali|chhoti diwali|kali chaudas|naraka chaturdashi": _hindu(_ASHVINA, 30, _EVENING, offset=-1),
    "diwali|deepavali|divali|lakshmi puja|dipavali": _hindu(_ASHVINA, 30, _EVENING),
    "govardhan puja": _hindu(_KARTIKA, 1, _AFTERNOON),
    "bhai dooj|bhaubeej|bhai duj": _hindu(_KARTIKA, 2, _AFTERNOON),
    "chhath|chhath puja|dala puja|surya shashthi|dala chhath": _hindu(_KARTIKA, 6, _SUNRISE),
    "guru nanak jayanti|guru nanak gurpurab|gurpurab": _hindu(_KARTIKA, 15, _SUNRISE),
    "guru gobind singh jayanti|guru gobind singh birthday|guru govind singh jayanti":
        _hindu(_PAUSHA, 7, _SUNRISE),
    "vasant panchami|basant panchami": _hindu(_MAGHA, 5, _SUNRISE),
    "guru ravidas jayanti|guru ravidass jayanti|guru ravidas birthday|guru ravidass birthday":
        _hindu(_MAGHA, 15, _SUNRISE),
    "maha shivaratri|maha shivratri|shivaratri": _hindu(_MAGHA, 29, _MIDNIGHT),
    "chhoti holi|holika dahan|kamudu pyre": _hindu(_PHALGUNA, 15, _EVENING),
    "holi|dhulandi|phagwah|rangwali holi|dhuleti": _hindu(_PHALGUNA, 15, _EVENING, offset=1),
    "pongal|makar sankranti|makara sankranti|makara sankranthi|maghi|thai pongal": _sun_enters(9, 1),
    "bogi pandigai|lohri": _sun_enters(9, 1, offset=-1),
    "maattu pongal|mattu pongal": _sun_enters(9, 1, offset=1),
    "kaanum pongal|kanni pongal|kanum pongal": _sun_enters(9, 1, offset=2),
    "vaisakhi|baisakhi|vasakhi|vaishakhi": _sun_enters(0, 4),
    "parsi new year|jamshedi navroz": _known(_parsi_new_year),
}  # fmt: skip
