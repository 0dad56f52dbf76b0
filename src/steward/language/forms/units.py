"""Units of measure: in which one a slot takes its number, in which one it was said, and the way between.

Owns the units that people say beside numbers. Lengths of time within a date are the grammar's.
"""

from dataclasses import dataclass

from steward.contract import linear_re as re
from steward.language.numbers import number_in

_DEFINED = """
length: mm millimeter millimetre =.001; cm centimeter centimetre =.01; m meter metre =1;
  km kilometer kilometre =1000; in inch inches =.0254; ft foot feet =.3048; yd yard =.9144; mi mile =1609.344
mass: mg milligram =.000001; g gram gramme gr =.001; kg kilo kilogram kilogramme =1; lb lbs pound =.45359237;
  oz ounce =.028349523125; t tonne =1000
volume: ml milliliter millilitre =.001; cl centiliter centilitre =.01; dl deciliter decilitre =.1;
  l liter litre =1; gal gallon =3.785411784; pint =.473176473; quart =.946352946
time: ms millisecond =.001; s sec second =1; min minute =60; h hr hour =3600; d day =86400; week =604800
months: month =1; quarter =3; year yr =12
speed: m/s mps =1; km/h kmh kph =.2777777777777778; mph =.44704; knot kn =.5144444444444445
energy: j joule =1; kj kilojoule =1000; cal calorie =4.184; kcal kilocalorie =4184; wh =3600; kwh =3600000
power: w watt =1; kw kilowatt =1000; megawatt =1000000; hp horsepower =745.6998715822702
pressure: pa pascal =1; hpa hectopascal =100; kpa kilopascal =1000; bar =100000; mbar millibar =100;
  psi =6894.757293168
frequency: hz hertz =1; khz kilohertz =1000; mhz megahertz =1000000; ghz gigahertz =1000000000
voltage: mv millivolt =.001; v volt =1; kv kilovolt =1000
current: ma milliamp milliampere =.001; a amp ampere =1
data: byte =1; kb kilobyte =1000; mb megabyte =1000000; gb gigabyte =1000000000; tb terabyte =1000000000000
money: cent cents =.01; dollar euro pound_sterling $ € £ eur usd gbp =1
"""
# As the name of a slot or beside a number they are units; in a sentence they are mostly other words.
_SHORT = frozenset({"a", "d", "h", "t", "j", "in", "pound", "cal", "bar"})
_SAID = re.compile(r"[\s-]?(?P<unit>[a-z]{1,12}(?:/[hs])?|[$€£])(?![a-z])", re.IGNORECASE)
_MORE = re.compile(
    r"[\s,]*(?:and\s+)?(?P<much>\d{1,6}(?:\.\d{1,4})?)(?P<behind>[\s-]?[a-z]{1,12})", re.IGNORECASE
)
_NAMED = re.compile(
    r"\b(?:in|of|as)\s+(?:the\s+)?(?P<named>[a-z/]{1,14})\b|\((?P<put>[a-z/]{1,14})\)", re.IGNORECASE
)
_DIGITS = 10  # that count, after reckoning


@dataclass(frozen=True, slots=True)
class Unit:
    measures: str
    size: float


def _table() -> dict[str, Unit]:
    table: dict[str, Unit] = {}
    measures, names = "", list[str]()
    for word in _DEFINED.replace(";", " ").split():
        if word.endswith(":"):
            measures, names = word[:-1], []
        elif word.startswith("="):
            for name in names:
                table.setdefault(name, Unit(measures, float(word[1:])))
            names = []
        else:
            names.append(word)
    return table


UNITS = _table()


def unit_called(word: str) -> Unit | None:
    lower = word.lower()
    found = UNITS.get(lower)
    return found if found is not None or not lower.endswith("s") else UNITS.get(lower[:-1])


def unit_of_slot(name: str, described: str) -> Unit | None:
    """The one unit that a slot's name or description states; None where none or several are."""
    words = name.lower().split()
    last = unit_called(words[-1]) if len(words) > 1 else None
    inner = [unit_called(word) for word in words if word not in _SHORT]
    named = [last, *inner]
    for found in _NAMED.finditer(described):
        word = (found["named"] or found["put"] or "").lower()
        if found["put"] or word not in _SHORT:
            named.append(unit_called(word))
    units = {unit for unit in named if unit is not None}
    return units.pop() if len(units) == 1 else None


def reckoned(value: float, behind: str, wanted: Unit) -> float | None:
    """A number in the unit that is wanted, where another one stands behind it; None for nothing to do.

    "5 feet 10 inches" is one length.
    """
    said = _SAID.match(behind)
    unit = unit_called(said["unit"]) if said else None
    if said is None or unit is None or unit.measures != wanted.measures:
        return None
    total = value * unit.size
    more = _MORE.match(behind, said.end())
    following = _SAID.match(more["behind"]) if more else None
    smaller = unit_called(following["unit"]) if following else None
    if (
        more is not None
        and smaller is not None
        and smaller.measures == unit.measures
        and smaller.size < unit.size
    ):
        part = number_in(more["much"])
        total += part.value * smaller.size if part else 0.0
    elif unit.size == wanted.size:
        return None
    return float(f"{total / wanted.size:.{_DIGITS}g}")
