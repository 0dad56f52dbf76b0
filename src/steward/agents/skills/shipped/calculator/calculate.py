"""Evaluates arithmetic and converts units, exactly, from an expression or a simple phrase.

Needs only the standard library.
"""

import ast
import math
import re
import sys
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeVar, cast

T = TypeVar("T")
LARGEST = 5_000  # digits of a power, terms of a sequence
OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Any]] = {
    ast.Add: Fraction.__add__,
    ast.Sub: Fraction.__sub__,
    ast.Mult: Fraction.__mul__,
    ast.Div: Fraction.__truediv__,
    ast.FloorDiv: Fraction.__floordiv__,
    ast.Mod: Fraction.__mod__,
}
LEADING = re.compile(r"^(?:please|what(?:'s| is| are)|calculate|compute|tell me|work out)\s+", re.IGNORECASE)
WORDS = (
    (r"\b(?:what(?:'s| is| are)|calculate|compute|how much is|work out|evaluate|tell me|please|the)\b", " "),
    (r"(\d[\d.]*)\s*(?:percent|%)\s+of\s+", r"(\1/100)*"),
    (r"\bfirst (\d+) primes?(?: numbers?)?", r"primes(\1)"),
    (r"\bfirst (\d+) fibonacci(?: numbers?)?", r"fibonaccis(\1)"),
    (r"(\d+)(?:st|nd|rd|th) fibonacci(?: number)?", r"fibonacci(\1)"),
    (r"(\d+)(?:st|nd|rd|th) prime(?: number)?", r"prime(\1)"),
    (r"\bfactorial of (\d+)", r"factorial(\1)"),
    (r"\bsquare root of ([\d.]+)", r"sqrt(\1)"),
    (r"\bplus\b", "+"),
    (r"\bminus\b", "-"),
    (r"\b(?:times|multiplied by)\b|\u00d7", "*"),
    (r"\b(?:divided by|over)\b|\u00f7", "/"),
    (r"\bto the power of\b|\^", "**"),
    (r"(?<=\d),(?=\d{3})", ""),
)


def primes(count: Fraction) -> list[int]:
    found: list[int] = []
    number = 2
    while len(found) < min(int(count), LARGEST):
        if all(number % prime for prime in found if prime * prime <= number):
            found.append(number)
        number += 1
    return found


def fibonaccis(count: Fraction) -> list[int]:
    found = [0, 1]
    wanted = min(int(count), LARGEST)
    while len(found) <= wanted:
        found.append(found[-1] + found[-2])
    return found[1 : wanted + 1]


def factorial(number: Fraction) -> int:
    return math.factorial(min(int(number), LARGEST))


def divisor(one: Fraction, other: Fraction) -> int:
    return math.gcd(int(one), int(other))


def rounded(number: Fraction, digits: Fraction = Fraction(0)) -> float:
    return round(float(number), int(digits))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": math.sqrt,
    "factorial": factorial,
    "gcd": divisor,
    "round": rounded,
    "abs": abs,
    "primes": primes,
    "fibonaccis": fibonaccis,
}
LAST_OF: dict[str, Callable[[Fraction], list[int]]] = {"prime": primes, "fibonacci": fibonaccis}


def value(node: ast.AST) -> Any:  # noqa: PLR0911 - one line a kind of expression
    match node:
        case ast.Expression():
            return value(node.body)
        case ast.Constant(value=int() | float() as number):
            return Fraction(str(number))
        case ast.UnaryOp(op=ast.USub()):
            return -value(node.operand)
        case ast.BinOp(op=ast.Pow()):
            base, exponent = value(node.left), value(node.right)
            if abs(exponent) * math.log10(abs(base) + 1) > LARGEST:
                raise ValueError("that number is too large")
            return base**exponent
        case ast.BinOp() if type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](Fraction(value(node.left)), Fraction(value(node.right)))
        case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS:
            return FUNCTIONS[name](*map(value, node.args))
        case ast.Call(func=ast.Name(id=name), args=[place]) if name in LAST_OF:
            return LAST_OF[name](value(place))[-1]
        case _:
            raise ValueError("only numbers, brackets, + - * / // % ** and a few functions are understood")


def shown(result: Any) -> str:
    if isinstance(result, list):
        return ", ".join(map(str, cast("list[int]", result)))
    if isinstance(result, Fraction):
        return str(result.numerator) if result.denominator == 1 else f"{float(result):.12g}"
    return f"{result:.12g}" if isinstance(result, float) else str(result)


# Each kind by its own base; a unit's names, and how many of the base it is.
UNITS: tuple[dict[str, str], ...] = (
    {
        "m meter metre": "1",
        "km kilometer kilometre": "1000",
        "cm centimeter centimetre": "0.01",
        "mm millimeter millimetre": "0.001",
        "mi mile": "1609.344",
        "yd yard": "0.9144",
        "ft foot feet": "0.3048",
        "in inch inches": "0.0254",
        "nmi nauticalmile": "1852",
    },
    {
        "kg kilogram kilo": "1",
        "g gram": "0.001",
        "mg milligram": "0.000001",
        "t tonne ton": "1000",
        "lb lbs pound": "0.45359237",
        "oz ounce": "0.028349523125",
        "st stone": "6.35029318",
    },
    {
        "l liter litre": "1",
        "ml milliliter millilitre": "0.001",
        "gal gallon": "3.785411784",
        "qt quart": "0.946352946",
        "pt pint": "0.473176473",
        "cup": "0.2365882365",
        "tbsp tablespoon": "0.01478676478125",
        "tsp teaspoon": "0.00492892159375",
    },
    {
        "sqm squaremeter squaremetre": "1",
        "sqkm squarekilometer squarekilometre": "1000000",
        "sqft squarefoot squarefeet": "0.09290304",
        "sqmi squaremile": "2589988.110336",
        "acre": "4046.8564224",
        "ha hectare": "10000",
    },
    {"kmh km/h kph": "1", "mph": "1.609344", "m/s": "3.6", "kn knot": "1.852"},
    {"s sec second": "1", "min minute": "60", "h hr hour": "3600", "d day": "86400", "week": "604800"},
    {"b byte": "1", "kb kilobyte": "1000", "mb megabyte": "1000000", "gb gigabyte": "1000000000"},
)
WARMTH = {"c celsius": ("1", "0"), "f fahrenheit": ("5/9", "-32"), "k kelvin": ("1", "-273.15")}
CONVERSION = re.compile(
    r"^(?:convert|turn|(?:(?:how )?(?:many|much) )?(?P<first>[a-z/ ]+?) (?:are|is|in)\b)?\s*"
    r"(?P<number>-?\d[\d.,]*)\s*(?P<one>[a-z°/ ]+?)"
    r"(?:\s+(?:to|in|into|as)\s+(?P<other>[a-z°/ ]+))?$",
    re.IGNORECASE,
)


def converted(said: str) -> str | None:
    """What a phrase such as "5 miles to km" comes to; None where it is no conversion."""
    asked = CONVERSION.match(said.strip())
    target = asked and (asked["other"] or asked["first"])
    if not asked or not target:
        return None
    number = Fraction(asked["number"].replace(",", ""))
    result = _degrees(number, _unit(asked["one"]), _unit(target))
    if result is None:
        result = _measure(number, _unit(asked["one"]), _unit(target))
    if result is None:
        return None
    return f"{asked['number']} {asked['one'].strip()} = {measure(result)} {target.strip()}"


def _unit(said: str) -> str:
    return re.sub(r"degrees?|°|\s", "", said.lower())


def _measure(number: Fraction, one: str, other: str) -> Fraction | None:
    for kind in UNITS:
        sizes = _both(one, other, kind)
        if sizes is not None:
            return number * Fraction(sizes[0]) / Fraction(sizes[1])
    return None


def _degrees(number: Fraction, one: str, other: str) -> Fraction | None:
    scales = _both(one, other, WARMTH)
    if scales is None:
        return None
    (size, offset), (other_size, other_offset) = (map(Fraction, scale) for scale in scales)
    return (number + offset) * size / other_size - other_offset


def _both(one: str, other: str, kind: Mapping[str, T]) -> tuple[T, T] | None:
    """What is said of two units of this kind, by any of their names, one or many."""
    known = {name: about for names, about in kind.items() for name in names.split()}
    found = [known.get(name, known.get(name.removesuffix("s"))) for name in (one, other)]
    return None if found[0] is None or found[1] is None else (found[0], found[1])


def measure(result: Fraction) -> str:
    return str(result.numerator) if result.denominator == 1 else f"{float(result):.6g}"


def main(said: str) -> int:
    text = said.strip().rstrip("?.! ")
    if measured := converted(LEADING.sub("", text)):
        sys.stdout.write(f"{measured}\n")
        return 0
    for pattern, instead in WORDS:
        text = re.sub(pattern, instead, text, flags=re.IGNORECASE)
    try:
        result = value(ast.parse(text.strip(), mode="eval"))
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, TypeError, IndexError) as error:
        reason = "it is no calculation" if isinstance(error, SyntaxError) else str(error)
        sys.exit(f"I cannot calculate '{said}': {reason}")
    sys.stdout.write(f"{text.strip()} = {shown(result)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:])))
