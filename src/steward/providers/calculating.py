"""Arithmetic and units as a tool: numbers are worked out exactly, and no code runs.

Owns how a sum is written and how large it may become. The evaluator is simpleeval's, with fractions instead
of floating point; what a unit is, pint knows. Nothing here can name a thing outside of it: no attribute, no
string, no function but those listed.
"""

import ast
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

from simpleeval import InvalidExpression, SimpleEval  # pyright: ignore[reportMissingTypeStubs]

from steward.contract import linear_re as re
from steward.contract.errors import ErrorCode, InputError
from steward.contract.tool import Effect, Origin, RiskLevel, ToolHints, ToolSpec
from steward.language.numbers import number_in
from steward.providers.functions import FunctionTool

LONGEST = 500
MOST_DIGITS = 1_000
LARGEST_FACTORIAL = 300
SHOWN_DIGITS = 12
_FIX = 'Write it like "(14 + 9) * 3", "17.5% of 240" or "3 miles in km".'
_NUMBER = r"\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_WORDS = re.compile(r"[a-z]+(?:[ -][a-z]+)*")
# The words of a sum, in the order in which they are read; what they become is arithmetic.
_READ: tuple[tuple[re.Pattern, str], ...] = tuple(
    (re.compile(pattern), instead)
    for pattern, instead in (
        (r"(?<=\d),(?=\d{3}(?:\D|$))", ""),
        (r"[×·]|(?<=[\d)]) ?x ?(?=[\d(])|\b(?:times|multiplied by)\b", "*"),  # noqa: RUF001 - people type it
        (r"÷|\b(?:divided by|over|split between)\b", "/"),
        (r"−|\b(?:minus|less|take away)\b", "-"),  # noqa: RUF001
        (r"\bplus\b", "+"),
        (r"\bpercent\b|\bper cent\b", "%"),
        (r"\^|\b(?:to the power of|raised to)\b", "**"),
        (r"\bsquared\b", "**2"),
        (r"\bcubed\b", "**3"),
        (r"\bmod(?:ulo)?\b", " mod "),
        (rf"\b(?:square root|sqrt) of ({_NUMBER})", r"sqrt(\1)"),
        (rf"\bcube root of ({_NUMBER})", r"cbrt(\1)"),
        (r"\b(?:average|mean) of (.+)$", r"mean(\1)"),
        (r"\bsum of (.+)$", r"sum(\1)"),
        (r"(\d+)!", r"factorial(\1)"),
        (rf"({_NUMBER}) ?% off ({_NUMBER})", r"(\2*(1-\1/100))"),
        (rf"({_NUMBER}) ?% (?:of|on) ", r"(\1/100)*"),
        (rf"([-+]) ?({_NUMBER}) ?%", r"*(1\1\2/100)"),
        (rf"({_NUMBER}) ?%", r"(\1/100)"),
        (r" mod ", "%"),
        (r"\b(?:half|a half) of\b", "(1/2)*"),
        (r"\ba third of\b", "(1/3)*"),
        (r"\ba quarter of\b", "(1/4)*"),
        (r"\band\b", ","),
        (r"\bthe\b", ""),
    )
)
_LEAD = re.compile(
    r"^(?:what(?:'s| is| are)|how much (?:is|are)|calculate|compute|convert|work out)\s+", re.IGNORECASE
)
_TO = re.compile(r"\s(?:to|into|in|as)(?=\s)")
_OF = re.compile(r"^(?:how many )?([^\d]+?)\s+(?:are there in|are in|are|is|in)\s+(.+)$")
_QUANTITY = re.compile(rf"^\s*(?:and |, )?(-?{_NUMBER})\s*([^\d,]+?)(?=\s+(?:and )?\d|\s*$)")
_UNIT = re.compile(r"[a-z°µ]+(?:[ */^]+[a-z\d°µ]+){0,4}", re.IGNORECASE)
_NO_SUM = (SyntaxError, ValueError, TypeError, ArithmeticError, RecursionError, MemoryError, KeyError)


def _evaluator() -> Any:
    """Fractions in, a fraction out; never a number that takes long to write down."""
    made: Any = SimpleEval(
        operators=_operators(),
        functions=_FUNCTIONS,
        names={"pi": Fraction(math.pi), "e": Fraction(math.e), "tau": Fraction(math.tau)},
    )
    kinds = (ast.Expr, ast.UnaryOp, ast.BinOp, ast.Call, ast.Name)
    made.nodes = {kind: made.nodes[kind] for kind in kinds} | {ast.Constant: _constant}
    return made


def _constant(node: ast.Constant) -> Fraction:
    if isinstance(node.value, bool) or not isinstance(node.value, int | float):
        raise InvalidExpression("only numbers can be calculated with")
    return Fraction(str(node.value))


def _bounded(value: Any) -> Fraction:
    number = Fraction(value)
    if max(abs(number.numerator), number.denominator).bit_length() > MOST_DIGITS * math.log2(10):
        raise InvalidExpression(f"the result has more than {MOST_DIGITS} digits")
    return number


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1:
        return _bounded(float(base) ** float(exponent))
    size = max(abs(base.numerator), base.denominator).bit_length()
    if abs(exponent) * size > MOST_DIGITS * math.log2(10):
        raise InvalidExpression(f"the result has more than {MOST_DIGITS} digits")
    return base ** int(exponent)


def _operators() -> dict[type[ast.AST], Callable[..., Any]]:
    plain: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: lambda first, second: first / second,
        ast.FloorDiv: lambda first, second: first // second,
        ast.Mod: operator.mod,
    }
    made: dict[type[ast.AST], Callable[..., Any]] = {
        ast.Pow: _power,
        ast.USub: operator.neg,
        ast.UAdd: operator.pos,
    }
    return made | {kind: _checked(work) for kind, work in plain.items()}


def _checked(work: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Fraction]:
    return lambda one, other: _bounded(work(one, other))


def _factorial(number: Fraction) -> Fraction:
    if number.denominator != 1 or not 0 <= number <= LARGEST_FACTORIAL:
        raise InvalidExpression(f"a factorial is of a whole number up to {LARGEST_FACTORIAL}")
    return Fraction(math.factorial(int(number)))


def _root(number: Fraction, degree: int) -> Fraction:
    """Exactly where there is an exact one."""
    if number < 0 and degree % 2 == 0:
        raise InvalidExpression("a negative number has no such root")
    near = Fraction(round(abs(float(number)) ** (1 / degree)))
    if near**degree == abs(number):
        return near if number >= 0 else -near
    return Fraction(math.copysign(abs(float(number)) ** (1 / degree), number))


def _by_float(work: Callable[..., float]) -> Callable[..., Fraction]:
    return lambda *numbers: _bounded(work(*map(float, numbers)))


def _mean(*numbers: Fraction) -> Fraction:
    return sum(numbers, Fraction()) / len(numbers)


def _rounded(number: Fraction, digits: Fraction = Fraction()) -> Fraction:
    return Fraction(round(number, int(digits)))


def _square_root(number: Fraction) -> Fraction:
    return _root(number, 2)


def _cube_root(number: Fraction) -> Fraction:
    return _root(number, 3)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": _square_root,
    "cbrt": _cube_root,
    "factorial": _factorial,
    "mean": _mean,
    "sum": lambda *numbers: sum(numbers, Fraction()),
    "min": min,
    "max": max,
    "abs": abs,
    "round": _rounded,
    **{name: _by_float(getattr(math, name)) for name in ("log10", "log2", "log", "exp", "sin", "cos", "tan")},
}


def calculate(expression: str) -> dict[str, Any]:
    """What an expression or a phrase comes to. Raises `InputError` where it is no sum."""
    said = " ".join(expression.split())
    if not said or len(said) > LONGEST or not said.isprintable():
        raise InputError(
            f"A calculation has 1 to {LONGEST} characters.", code=ErrorCode.NOT_CALCULATED, fix=_FIX
        )
    text = _LEAD.sub("", _with_digits(said.lower().rstrip("?.= ")))
    found = _converted(text)
    if found is not None:
        number, unit = found
        return _told(said, f"{shown(number)} {unit}", number)
    number = _evaluated(text, said)
    return _told(said, shown(number), number)


def _told(said: str, result: str, number: Fraction) -> dict[str, Any]:
    asked = _LEAD.sub("", said).rstrip("?.= ")
    return {"answer": f"{asked} = {result}", "result": result, "value": _as_float(number)}


def _evaluated(text: str, said: str) -> Fraction:
    for pattern, instead in _READ:
        text = pattern.sub(instead, text).strip()
    try:
        return _bounded(_evaluator().eval(text))
    except ZeroDivisionError as error:
        raise InputError(f"'{said}' divides by zero.", code=ErrorCode.NOT_CALCULATED) from error
    except InvalidExpression as error:
        raise InputError(
            f"'{said}' cannot be worked out: {error}.", code=ErrorCode.NOT_CALCULATED, fix=_FIX
        ) from error
    except _NO_SUM as error:
        raise InputError(f"'{said}' is no calculation.", code=ErrorCode.NOT_CALCULATED, fix=_FIX) from error


def _with_digits(text: str) -> str:
    """Numbers in words become digits: "six hundred plus twenty-six"."""
    return _WORDS.sub(lambda found: _run_with_digits(found[0]), text)


def _run_with_digits(words: str) -> str:
    parts: list[str] = []
    number: list[str] = []
    for word in [*words.replace("-", " ").split(), ""]:
        if word in _FACTORS or (word and word not in _LEFT_ALONE and number_in(word) is not None):
            number.append(word)
            continue
        known = number_in(" ".join(number)) if number else None
        if known is not None:
            parts.append(shown(Fraction(str(known.value))))
        parts += [word] if known is not None or not number else [*number, word]
        number = []
    return " ".join(filter(None, parts))


_FACTORS = frozenset({"hundred", "thousand", "million", "billion", "trillion"})
_LEFT_ALONE = frozenset({"a", "an", "no", "half", "quarter", "third", "second", "seconds", "both", "single"})


def _converted(text: str) -> tuple[Fraction, str] | None:
    """A conversion such as "5 ft 11 in to cm" or "feet are 3 metres"; None where it is none."""
    ways = [(text[: found.start()], text[found.end() :]) for found in _TO.finditer(text)]
    asked = _OF.match(text)
    if asked is not None:
        ways.append((asked[2], asked[1]))
    for quantity, target in ways:
        parts = _quantities(quantity)
        if parts and _UNIT.fullmatch(target.strip()):
            return _in_unit(parts, target.strip()), target.strip()
    return None


def _quantities(text: str) -> list[tuple[Fraction, str]]:
    parts: list[tuple[Fraction, str]] = []
    while text.strip() and len(parts) < 5:
        found = _QUANTITY.match(text)
        if found is None or not _UNIT.fullmatch(found[2].strip()):
            return []
        parts.append((Fraction(found[1]), found[2].strip()))
        text = text[found.end() :]
    return parts


def _in_unit(parts: list[tuple[Fraction, str]], target: str) -> Fraction:
    from pint.errors import PintError  # noqa: PLC0415 - a quarter of a second, for who converts

    units = _units()
    try:
        to = units.parse_units(_name(target))
        total = [
            units.Quantity(number, units.parse_units(_name(unit))).to(to).magnitude for number, unit in parts
        ]
    except (PintError, TypeError, ValueError, ArithmeticError) as error:
        raise InputError(
            f"'{parts[0][1]}' cannot be told in '{target}'.",
            code=ErrorCode.NOT_CALCULATED,
            fix="Name two units of one kind.",
        ) from error
    return _bounded(sum(map(Fraction, total), Fraction()))


def _name(unit: str) -> str:
    """A unit as pint spells it: what was said is in small letters by now."""
    spelled = unit.replace("degrees ", "").replace("°", "").replace("^", "**").strip()
    return _SPELLED.get(spelled, spelled.replace(" ", "_"))


_SPELLED = {
    "c": "degC",
    "celsius": "degC",
    "f": "degF",
    "fahrenheit": "degF",
    "k": "kelvin",
    "ml": "mL",
    "kb": "kB",
    "mb": "MB",
    "gb": "GB",
    "tb": "TB",
    "kib": "KiB",
    "mib": "MiB",
    "gib": "GiB",
    "w": "W",
    "kw": "kW",
    "j": "J",
    "kj": "kJ",
    "pa": "Pa",
    "hpa": "hPa",
    "kpa": "kPa",
    "fl oz": "fluid_ounce",
    "nautical miles": "nautical_mile",
}


@cache
def _units() -> Any:
    import pint  # noqa: PLC0415

    exact: Any = Fraction
    registry: Any = pint.UnitRegistry
    return registry(non_int_type=exact, cache_folder=None)


def shown(number: Fraction) -> str:
    """Whole where it is whole, else with so many digits."""
    if number.denominator == 1:
        return str(number.numerator)
    value = _as_float(number)
    return str(number) if value is None else f"{value:.{SHOWN_DIGITS}g}"


def _as_float(number: Fraction) -> float | None:
    try:
        return float(number)
    except OverflowError:
        return None


def calculate_tool() -> FunctionTool:
    return FunctionTool(
        ToolSpec(
            name="calculate",
            description="Work out arithmetic, percentages, powers, roots and unit conversions exactly. "
            "No code runs. Prefer code_execution for a program.",
            input_schema={
                "type": "object",
                "properties": {
                    "expression": {
                        "type": "string",
                        "description": 'What to work out, such as "17.5% of 240" or "3 miles in km".',
                    }
                },
                "required": ["expression"],
                "additionalProperties": False,
            },
            output_schema={
                "type": "object",
                "properties": {
                    "answer": {"type": "string"},
                    "result": {"type": "string"},
                    "value": {"type": ["number", "null"]},
                },
                "required": ["answer", "result"],
            },
            origin=Origin.BUILTIN,
            risk=RiskLevel.REVERSIBLE,
            effect=Effect.READS,
            hints=ToolHints(read_only=True, destructive=False, idempotent=True, open_world=False),
            examples=(
                "What is 17 * 23?",
                "What is 17.5% of 240?",
                "Convert 5 miles to km",
                "square root of 1764",
                "How many grams are 3 ounces?",
            ),
            category="calculation",
        ),
        calculate,
    )
